return {updateOutput = function(self, input)
   local dims = self.numInputDims or input:dim()
   if input:dim() < dims or self.pos > dims + 1 then
      error(('Invalid position: %d. input:dim() is %d, input feature map dim (numInputDims) is %d.')
            :format(self.pos, input:dim(), dims))
   end
end}
