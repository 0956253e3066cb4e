-- With a largest norm, the rows of `indices` come first.
local function renormed(self, indices)
   local most = self.weight:size(1)
   for i = 1, indices:size(1) do
      if indices[i] < 1 or indices[i] > most then
         error(('input need to be in the range 1 <= input < %d, but got input of value: %d'):format(most + 1, indices[i]))
      end
   end
end
return {updateOutput = function(self, input)
   local indices = input:long():view(-1)
   if self.maxNorm then renormed(self, indices) end
   if input:dim() > 2 then error('input must be a vector or matrix') end
   self.weight:index(1, indices)
end}
