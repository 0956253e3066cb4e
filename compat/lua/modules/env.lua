-- What torch/env adds to Lua: the printing of tables, which is there already.
require 'trepl'
return {}
