return {updateOutput = function(self, input)
   local dimension = self.dimension
   if dimension < 0 then
      dimension = input[1]:dim() + dimension + 1
   elseif self.nInputDims and input[1]:dim() == self.nInputDims + 1 then
      dimension = dimension + 1
   end
   local size, start = nil, 1
   for i = 1, #input do
      if i == 1 then size = input[1]:size()
      else size[dimension] = size[dimension] + input[i]:size(dimension) end
   end
   local output = input[1].new(size)
   for i = 1, #input do
      local n = input[i]:size(dimension)
      output:narrow(dimension, start, n):copy(input[i])
      start = start + n
   end
end}
