-- Tables of containers that have too few entries: Torch7 gives the modules nil for those that lack.
local t7 = torch._t7
local functions = t7.call(t7.raw_import('compat.lua.net_errors').functions, t7.python.this_runtime())

local function refuse(container, i, method, ...)
   local module, args, n = container.modules[i], {...}, select('#', ...)
   local classes = t7.call(functions.classes, t7.to_python(module), method)
   local ok, err = pcall(function() require 'nn.refusals' (classes, method, module, unpack(args, 1, n)) end)
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
      updateGradInput = function(self)
         local module = self.modules[#self.modules]
         return module.updateGradInput
      end,
   },
   ConcatTable = {updateGradInput = each('updateGradInput', whole, entry)},
   ParallelTable = {
      updateOutput = each('updateOutput', entry),
      updateGradInput = each('updateGradInput', entry, entry),
   },
}
