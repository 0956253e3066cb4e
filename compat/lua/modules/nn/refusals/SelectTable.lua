return {updateOutput = function(self, input)
   local index = self.index
   if type(index) == 'number' and index < 0 then index = #input + index + 1 end
   if not input[index] then error('index does not exist in the input table') end
end}
