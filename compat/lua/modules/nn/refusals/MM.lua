return {updateOutput = function(self, input)
   assert(#input == 2, 'input must be a pair of minibatch matrices')
   local a, b = input[1], input[2]
   local n = a:nDimension()
   assert(n == 2 or n == 3, 'input tensors must be 2D or 3D')
   assert(b:nDimension() == n, ('second input tensor must be %dD'):format(n))
   assert(n == 2 or a:size(1) == b:size(1), 'inputs must contain the same number of minibatches')
   assert(a:size(self.transA and n - 1 or n) == b:size(self.transB and n or n - 1), 'matrix sizes do not match')
end}
