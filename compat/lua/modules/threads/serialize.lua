-- Tensors are copied on their way to another thread.
local transfer = require 'threads.transfer'
return {save = function(object) return transfer.save(object, true) end, load = transfer.load}
