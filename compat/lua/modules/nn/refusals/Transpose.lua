return {updateOutput = function(self, input)
   local offset = self.numInputDims and input:nDimension() - self.numInputDims or 0
   for _, pair in ipairs(self.permutations) do input = input:transpose(pair[1] + offset, pair[2] + offset) end
end}
