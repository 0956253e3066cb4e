local function sizes(storage) return table.concat(storage:totable(), 'x') end
return {updateOutput = function(self, input)
   local given, wanted = 1, self.numElements
   local dims = input:dim()
   for i = dims - (self.numInputDims or dims) + 1, dims do given = given * input:size(i) end
   if self.numInputDims and self.numInputDims < 0 then return input:size()[dims - self.numInputDims] end
   if given % wanted ~= 0 then
      error(('input view (%s) and desired view (%s) do not match'):format(sizes(input:size()), sizes(self.size)))
   end
end}
