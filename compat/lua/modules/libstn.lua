-- The C library of package stnbhwd (`require 'stn'`), whose Lua files are those of an installation.
local functions = torch._t7.import('compat.nn.functional.grid_sampling')
local library = {}
stn = {}

function library.BilinearSamplerBHWD_updateOutput(_, images, grids, output)
   output:copy(functions.sample(images, grids))
end
function library.BilinearSamplerBHWD_updateGradInput(_, images, grids, gradImages, gradGrids, gradOutput)
   local ofImages, ofGrids = functions.sample_backward(images, grids, gradOutput)
   gradImages:copy(ofImages)
   gradGrids:copy(ofGrids)
end
-- As a C library of Torch7 does: in the field `nn` of tensors.
for _, name in ipairs{'Float', 'Double', 'Cuda'} do
   local class = torch.getmetatable('torch.' .. name .. 'Tensor')
   if class then rawset(class, 'nn', library) end
end
