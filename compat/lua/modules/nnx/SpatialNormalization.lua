-- nn.SpatialNormalization of 2011: each pixel less the mean around it, divided by the deviation around it. Files hold the
-- modules that it is made of, under these names.
torch.class('nn.SpatialPadding', 'nn.SpatialZeroPadding')
local SpatialNormalization, parent = torch.class('nn.SpatialNormalization', 'nn.Module')

-- The sum over all planes and a window, weighted by a kernel whose sum is 1, in each of `planes` planes.
local function weighted_sum(planes, kernel)
   local height, width = kernel:size(1), kernel:size(2)
   local left, top = math.floor(width / 2), math.floor(height / 2)
   local map = nn.SpatialConvolutionMap(nn.tables.oneToOne(planes), width, height)
   map.weight:copy(kernel:view(1, height, width):expandAs(map.weight))
   map.bias:zero()
   return nn.Sequential():add(nn.SpatialPadding(left, width - 1 - left, top, height - 1 - top))
      :add(map):add(nn.Sum(1)):add(nn.Replicate(planes))
end

local function estimator(planes, kernels)
   if #kernels == 1 then return weighted_sum(planes, kernels[1]) end
   return nn.Sequential():add(weighted_sum(planes, kernels[1])):add(weighted_sum(planes, kernels[2]))
end

-- The kernel is a matrix, or a table of two: of a column and a row. It is divided by its sum. Without a threshold, small
-- deviations are replaced by their mean.
function SpatialNormalization:__init(planes, kernel, threshold)
   parent.__init(self)
   print('<SpatialNormalization> WARNING: this module has been deprecated,')
   print(' please use SpatialContrastiveNormalization instead')
   if not kernel then error('please provide kernel(s)') end
   local kernels = type(kernel) == 'table' and kernel or {kernel}
   for _, each in ipairs(kernels) do
      each:div(each:sum())
      for i, side in ipairs{'width', 'height'} do
         if each:size(3 - i) % 2 == 0 then print('Warning, kernel ' .. side .. ' is even -> not symetric padding') end
      end
   end
   self.kernel, self.nfeatures, self.fixedThres = kernel, planes, threshold
   self.convo, self.convostd = estimator(planes, kernels), estimator(planes, kernels)
   self.squareMod, self.sqrtMod = nn.Square(), nn.Sqrt()
   self.subtractMod, self.thresMod = nn.CSubTable(), nn.Threshold()
   self.meanDiviseMod, self.stdDiviseMod, self.diviseMod = nn.CDivTable(), nn.CDivTable(), nn.CDivTable()
   self.coef = torch.Tensor(1, 1)
end

local function as_planes(input)
   return input:dim() == 2 and input:view(1, input:size(1), input:size(2)) or input
end

function SpatialNormalization:updateOutput(input)
   input = as_planes(input)
   -- How much of the kernel lies inside the picture at each pixel.
   if self.coef:dim() ~= 3 or self.coef:size(2) ~= input:size(2) or self.coef:size(3) ~= input:size(3) then
      local ones = input.new(self.nfeatures, input:size(2), input:size(3)):fill(1)
      self.coef = self.convo:updateOutput(ones):clone()
   end
   self.inConvo = self.convo:updateOutput(input)
   self.inMean = self.meanDiviseMod:updateOutput{self.inConvo, self.coef}
   self.inputZeroMean = self.subtractMod:updateOutput{input, self.inMean}

   self.inputZeroMeanSq = self.squareMod:updateOutput(self.inputZeroMean)
   self.inConvoVar = self.convostd:updateOutput(self.inputZeroMeanSq)
   self.inStdDevNotUnit = self.sqrtMod:updateOutput(self.inConvoVar)
   self.inStdDev = self.stdDiviseMod:updateOutput{self.inStdDevNotUnit, self.coef}
   local threshold = self.fixedThres or math.max(self.inStdDev:mean(), 1e-3)
   self.thresMod.threshold, self.thresMod.val = threshold, threshold
   self.stdDev = self.thresMod:updateOutput(self.inStdDev)

   self.output = self.diviseMod:updateOutput{self.inputZeroMean, self.stdDev}
   return self.output
end

function SpatialNormalization:updateGradInput(input, gradOutput)
   input = as_planes(input)
   local ofCentred, ofDeviation = unpack(self.diviseMod:updateGradInput({self.inputZeroMean, self.stdDev}, gradOutput))
   ofDeviation = self.thresMod:updateGradInput(self.inStdDev, ofDeviation)
   ofDeviation = self.stdDiviseMod:updateGradInput({self.inStdDevNotUnit, self.coef}, ofDeviation)[1]
   ofDeviation = self.sqrtMod:updateGradInput(self.inConvoVar, ofDeviation)
   ofDeviation = self.convostd:updateGradInput(self.inputZeroMeanSq, ofDeviation)
   ofCentred:add(self.squareMod:updateGradInput(self.inputZeroMean, ofDeviation))
   local direct, ofMean = unpack(self.subtractMod:updateGradInput({input, self.inMean}, ofCentred))
   ofMean = self.meanDiviseMod:updateGradInput({self.inConvo, self.coef}, ofMean)[1]
   self.gradInput:resizeAs(input):copy(direct):add(self.convo:updateGradInput(input, ofMean))
   return self.gradInput
end

function SpatialNormalization:type(type)
   parent.type(self, type)
   for _, name in ipairs{'convo', 'convostd', 'squareMod', 'sqrtMod', 'subtractMod', 'thresMod', 'meanDiviseMod',
                         'stdDiviseMod', 'diviseMod'} do
      self[name]:type(type)
   end
   return self
end
