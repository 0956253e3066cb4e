-- Torch7's package cudnn: its classes compute as nn's.
require 'cunn'
local t7 = torch._t7
cudnn = t7.packages.cudnn or {}
t7.packages.cudnn = cudnn
t7.bring('compat.cudnn')
cudnn.benchmark, cudnn.fastest, cudnn.verbose = false, false, false
-- That of the last release of cudnn.torch: scripts ask for 4000 and more.
cudnn.version = 5110
local functions = t7.functions('compat.cudnn')

-- `cudnn.convert(net, cudnn)`, or back with `nn`: the layers are the same objects, of other classes.
local names = {[cudnn] = 'compat.cudnn', [nn] = 'compat.nn'}
function cudnn.convert(net, package, exclude)
   if not names[package] then error('cudnn.convert: the second argument is neither cudnn nor nn', 2) end
   net = functions.convert(net, t7.call(t7.python.import_module, names[package]), exclude)
   if net.listModules then net:listModules() end
   return net
end
return cudnn
