-- Torch7's package dok, as far as other packages use it: the arguments of functions, named or in order, and errors about them.
require 'xlua'
dok = {unpack = xlua.unpack, usage = xlua.usage, error = xlua.error}
function dok.usecolors() end
function dok.dontusecolors() end
return dok
