local Linear = {}
function Linear.__init(_, inputSize, outputSize) torch.Tensor(outputSize, inputSize) end

function Linear.updateOutput(self, input)
   local weight, output = self.weight, self.weight.new()
   if input:dim() == 1 then
      output:resize(weight:size(1)):zero():addmv(1, weight, input)
   elseif input:dim() == 2 then
      output:resize(input:size(1), weight:size(1)):zero()
      output:addmm(0, output, 1, input, weight:t())
   else
      error('input must be vector or matrix')
   end
end

function Linear.updateGradInput(self, input, gradOutput)
   local gradInput = self.weight.new():resizeAs(input):zero()
   if input:dim() == 1 then
      gradInput:addmv(0, 1, self.weight:t(), gradOutput)
   else
      gradInput:addmm(0, 1, gradOutput, self.weight)
   end
end
return Linear
