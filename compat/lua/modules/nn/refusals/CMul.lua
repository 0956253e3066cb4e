-- The weight as the input's shape needs it is made by updateOutput, which a class may replace.
return {updateGradInput = function(self, _, gradOutput)
   if self.weight:nElement() ~= gradOutput:nElement() then return self._weight:nElement() end
end}
