return {updateOutput = function(self, input)
   local dim = self.dimension < 0 and input:dim() + self.dimension + 1 or self.dimension
   local index, length = self.index, self.length
   if length < 0 then length = input:size(dim) - index + length + 2 end
   if index < 0 then index, length = 1, input:size(dim) - length end
   local output=input:narrow(dim, index, length)
end}
