-- Torch7's package cunn: nets on devices, and nn.DataParallelTable.
require 'cutorch'
require 'nn'
local t7 = torch._t7
t7.define_class((t7.call(t7.objects.class_named, 'nn.DataParallelTable')))
return nn
