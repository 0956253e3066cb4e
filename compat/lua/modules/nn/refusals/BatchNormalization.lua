local function check(self, input)
   local dims, single = input:dim(), input:dim() == self.nDim - 1
   if dims ~= self.nDim and not (single and self.train == false) then
      error(('only mini-batch supported (%dD tensor), got %dD tensor instead'):format(self.nDim, dims))
   end
   local given, wanted = input:size(single and 1 or 2), self.running_mean:nElement()
   if given ~= wanted then error(('got %d-feature tensor, expected %d'):format(given, wanted)) end
end
return {updateOutput = check, updateGradInput = check}
