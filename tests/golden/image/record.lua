-- Records what Lua Torch7's package image computes: luajit record.lua functions.t7 [height width]
-- Each case is {name =, args =, result =}; args are positional, or one table of options.
require 'image'

torch.manualSeed(7)
local height, width = tonumber(arg[2] or 4), tonumber(arg[3] or 6)
local cases = {}

local function case(name, ...)
   table.insert(cases, {name = name, args = {...}, result = image[name](...)})
end

local function picture(type, planes, h, w)
   local x = torch.rand(planes, h or height, w or width)
   if type == 'torch.ByteTensor' then x:mul(256):floor() end
   return x:type(type)
end

for _, type in ipairs{'torch.ByteTensor', 'torch.FloatTensor', 'torch.DoubleTensor'} do
   local x = picture(type, 3)
   local grey = picture(type, 1)[1]
   for _, mode in ipairs{'bilinear', 'bicubic', 'simple'} do
      case('scale', x, width + 3, height + 2, mode)
      case('scale', x, width - 3, height - 2, mode)
      case('scale', grey, width - 2, height + 3, mode)
      case('scale', picture(type, 3, height, 2), 1, height * 3, mode)
   end
   case('scale', x, 4)
   case('scale', x, '^4')
   case('scale', x, '*1/2', 'simple')
   case('scale', x, '*1.5')
   case('scale', x, '9x4')
   case('scale', x.new(3, 4, 3), x, 'bicubic')
   case('crop', x, 1, 2, 5, 4)
   case('crop', grey, 1, 2, 5, 4)
   for _, format in ipairs{'c', 'tl', 'tr', 'bl', 'br'} do case('crop', x, format, 4, 2) end
   case('crop', x.new(3, 2, 2), x, 'c', 4, 4)
   case('crop', x.new(3, 4, 6), x, 1, 1, 4, 4)
   case('hflip', x)
   case('vflip', grey)
   case('flip', x, 1)
   case('translate', x, 2, -1)
   case('translate', grey, -3, 2)
   for _, theta in ipairs{0.3, -2, math.pi / 2} do
      case('rotate', x, theta)
      case('rotate', grey, theta, 'bilinear')
   end
   for _, interpolation in ipairs{'simple', 'bilinear'} do
      for _, mode in ipairs{'valid', 'full'} do
         case('polar', x, interpolation, mode)
         case('logpolar', x, interpolation, mode)
      end
   end
   local field = torch.rand(2, 4, 6):mul(4):add(-2):type(type)
   if type == 'torch.ByteTensor' then field = torch.rand(2, 4, 6):mul(3):type(type) end
   for _, mode in ipairs{'simple', 'bilinear', 'bicubic', 'lanczos'} do
      case('warp', x, field, mode)
      case('warp', x, field, mode, true, 'pad', 1)
      case('warp', grey, field, mode, false)
   end
   case('rgb2y', x)
   case('rgb2hsv', x)
   case('rgb2hsl', x)
   case('hsv2rgb', x)
   case('hsl2rgb', x)
   case('rgb2hsv', picture(type, 1):expand(3, height, width):clone())
   case('convolve', x, picture(type, 1, 3, 2)[1])
   case('convolve', x, picture(type, 3, 2, 3), 'full')
   case('convolve', grey, picture(type, 1, 3, 4)[1], 'same')
   local rect = {lineWidth = 2, color = {10, 20, 30}}
   case('drawRect', x, 2, 2, 6, 4)
   case('drawRect', x, 3, 1, 5, 4, rect)
   case('toDisplayTensor', picture(type, 7), 1, 3)
   case('toDisplayTensor', picture(type, 3), 0, 6, true)
   local level = picture(type, 1)
   if type ~= 'torch.ByteTensor' then level:mul(20):floor():add(1) end
   if type == 'torch.ByteTensor' then level:div(20):add(1) end
   case('y2jet', level)
   local binary = torch.rand(height, width):gt(0.5):type(type)
   case('erode', binary)
   case('dilate', binary)
   if type ~= 'torch.ByteTensor' then
      case('rgb2yuv', x)
      case('yuv2rgb', x)
      case('rgb2nrgb', x)
      case('rgb2lab', x)
      case('lab2rgb', image.rgb2lab(x))
      case('gaussianpyramid', x, {1, 0.5})
   end
end
local x = picture('torch.DoubleTensor', 3)
case('affinetransform', x, torch.Tensor{{0.9, 0.3}, {-0.2, 1.1}}, 'bilinear', torch.Tensor{1, 0.5})
case('affinetransform', x, torch.Tensor{{0.9, 0.3}, {-0.2, 1.1}}, 'simple', torch.Tensor{0, 0}, 'pad', 2)
case('gaussian', 5)
case('gaussian', 5, 0.3, 2, true, 3, 4, 0.2, 0.4, 0.4, 0.6)
case('gaussian1D', 5, 0.3, 2, true, 0.4)
case('laplacian', 5, 0.3, 2, true, 3, 4, 0.2, 0.4, 0.4, 0.6)
case('colormap', 12)
case('jetColormap', 9)
case('lcn', picture('torch.DoubleTensor', 1, 11, 12))
case('lcn', picture('torch.DoubleTensor', 1)[1], image.gaussian(3))
case('minmax', {tensor = torch.linspace(-1, 3, 5)})
case('minmax', {tensor = torch.linspace(-1, 3, 5), symm = true})
case('minmax', {tensor = torch.linspace(-1, 3, 5), min = 0, max = 2, saturate = true})
case('toDisplayTensor', {input = {picture('torch.DoubleTensor', 3), picture('torch.DoubleTensor', 3)}, padding = 2, symmetric = true})
torch.save(arg[1], {cases = cases})
