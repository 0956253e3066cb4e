return {updateOutput = function(self, input)
   local dimension, dims = self.dimension, input[1]:dim()
   if dimension < 0 then
      dimension = dims + dimension + 1
   elseif self.nInputDims and dims == self.nInputDims + 1 then
      dimension = dimension + 1
   end
   local size, start = input[1]:size(), 1
   for i = 2, #input do size[dimension] = size[dimension] + input[i]:size(dimension) end
   local output = input[1].new(size)
   for i = 1, #input do
      local n = input[i]:size(dimension)
      output:narrow(dimension, start, n):copy(input[i])
      start = start + n
   end
end}
