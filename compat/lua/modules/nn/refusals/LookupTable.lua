return {updateOutput = function(self, input)
   if input:dim() > 2 then error('input must be a vector or matrix') end
   self.weight:index(1, input:long():view(-1))
end}
