-- Torch7's package loadcaffe, which is compat.loadcaffe.
require 'nn'
local ok, functions = pcall(torch._t7.import, 'compat.loadcaffe')
if not ok then error("module 'loadcaffe' not found: " .. tostring(functions), 3) end

loadcaffe = {}
function loadcaffe.load(prototxt, binary, backend)
   backend = backend or 'nn'
   local read, network = pcall(functions.load_binary, binary)
   print((read and 'Successfully loaded ' or "Couldn't load ") .. binary)
   if not read then return end
   require(backend)
   return functions.load(prototxt, network, backend, print)
end
return loadcaffe
