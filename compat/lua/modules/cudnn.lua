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
cudnn.convert = functions.convert
return cudnn
