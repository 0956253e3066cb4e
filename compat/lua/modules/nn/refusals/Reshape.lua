return {updateOutput = function(self, input)
   local size = self.size:totable()
   local whole = input:nElement() == self.nelement and input:size(1) ~= 1
   if self.batchMode or self.batchMode == nil and not whole then table.insert(size, 1, input:size(1)) end
   input:contiguous():view(torch.LongStorage(size))
end}
