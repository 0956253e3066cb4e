-- Containers have their modules refuse. Only what comes from outside is looked at: what one module gives the
-- other fits.
local function refuse(container, i, method, ...)
   local module, args, n = container.modules[i], {...}, select('#', ...)
   local typename = module.__typename
   local ok, err = pcall(function() require 'nn.refusals' (typename, method, module, unpack(args, 1, n)) end)
   if not ok then require 'nn.Container' (err, {container}, {i}, 1) end
end

local function each(method, input, gradOutput)
   return function(self, inputs, gradOutputs)
      for i = 1, #self.modules do refuse(self, i, method, input(inputs, i), gradOutputs and gradOutput(gradOutputs, i)) end
   end
end
local function whole(all) return all end
local function entry(all, i) return all[i] end

return {
   Sequential = {
      updateGradInput = function(self, input, gradOutput)
         local n = #self.modules
         refuse(self, n, 'updateGradInput', n > 1 and self.modules[n - 1].output or input, gradOutput)
      end,
   },
   ConcatTable = {updateGradInput = each('updateGradInput', whole, entry)},
   ParallelTable = {
      updateOutput = each('updateOutput', entry),
      updateGradInput = each('updateGradInput', entry, entry),
   },
}
