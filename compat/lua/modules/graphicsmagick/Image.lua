-- graphicsmagick.Image: methods that change a picture give it back, so that they may be chained.
require 'torch'
local t7 = torch._t7
local ok, functions = pcall(t7.import, 'compat.graphicsmagick.calls')
if not ok then error("module 'graphicsmagick' not found: " .. tostring(functions), 3) end

local Image = {}
Image.__index = Image
setmetatable(Image, {__call = function(_, ...) return Image.new(...) end})

function Image.new(source, ...)
   local self = setmetatable({}, Image)
   if type(source) == 'string' then self:load(source, ...)
   elseif source then self:fromTensor(source, ...) end
   return self
end
function Image:clone()
   local copy = setmetatable({}, Image)
   for key, value in pairs(self) do copy[key] = value end
   return copy
end

function Image:load(path, width, height)
   if type(path) ~= 'string' then return self:fromTensor(path, width, height) end
   local file = io.open(path, 'rb')
   if not file then error('error loading image: ' .. path .. ' cannot be read', 2) end
   self:fromString(file:read('*a'))
   file:close()
   self.path = path
   return self
end
function Image:save(path, quality)
   local form = path:match('%.(%w+)$')
   if form then self:format(form:upper()) end
   local file = io.open(path, 'wb')
   if not file then error('error saving image: ' .. path .. ' cannot be written', 2) end
   file:write(self:toString(quality))
   file:close()
   return self
end
function Image:fromString(text)
   self.picture = functions.decode(text)
   return self
end
function Image:toString(quality) return functions.encode(self.picture, quality) end
function Image:fromBlob(blob, size)
   return self:fromString(type(blob) == 'string' and blob or t7.ffi.string(blob, size))
end
function Image:toBlob(quality)
   local text = self:toString(quality)
   local blob = t7.ffi.new('unsigned char[?]', #text)
   t7.ffi.copy(blob, text, #text)
   return blob, #text
end
function Image:fromTensor(tensor, letters, order)
   self.picture = functions.from_tensor(tensor, letters or 'RGB', order or 'DHW')
   return self
end
function Image:toTensor(kind, letters, order)
   return functions.to_tensor(self.picture, kind or 'float', letters or 'RGB', order or 'DHW')
end

-- The one side that is given is the longest; a height alone is the shortest.
function Image:size(width, height, filter, blur)
   local old_width, old_height = functions.size(self.picture)
   if not (width or height) then return old_width, old_height end
   if not (width and height) then
      local side = width or height
      local by_width = (old_width > old_height) == (width ~= nil)
      width = by_width and side or side * old_width / old_height
      height = by_width and side * old_height / old_width or side
   end
   self.picture = functions.resized(self.picture, width, height, filter, blur or 1)
   return self
end

-- Without a value they tell the one there is.
for _, name in ipairs{'depth', 'format', 'gamma', 'type', 'colorspace'} do
   Image[name] = function(self, value)
      if value == nil then return functions.get(self.picture, name) end
      self.picture = functions.set(self.picture, name, value)
      return self
   end
end
for name, method in pairs{rotate = 'rotated', crop = 'cropped', addBorder = 'bordered', negate = 'negated', blur = 'blurred',
                          sharpen = 'sharpened', unsharpMask = 'unsharp_masked', gammaCorrection = 'gamma_corrected'} do
   Image[name] = function(self, ...)
      self.picture = functions.change(self.picture, method, ...)
      return self
   end
end
function Image:flip()
   self.picture = functions.change(self.picture, 'flipped', 'y')
   return self
end
function Image:flop()
   self.picture = functions.change(self.picture, 'flipped', 'x')
   return self
end
function Image:samplingFactors(factors)
   self.picture = functions.set(self.picture, 'sampling', factors)
   return self
end
function Image:interlace() return self end
function Image:show() require('image').display() end
function Image:info()
   local width, height = self:size()
   return {width = width, height = height, format = self:format(), depth = self:depth(), type = self:type()}
end
return Image
