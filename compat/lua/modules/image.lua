-- Torch7's package image, which is compat.image.
require 'dok'
local t7 = torch._t7
local ok, functions = pcall(t7.import, 'compat.image')
if not ok then error("module 'image' not found: " .. tostring(functions), 3) end
local with_options = t7.import('compat.lua.calls').with_options

local function is_options(value)
   return type(value) == 'table' and #value == 0 and next(value) ~= nil and not torch.typename(value)
end

image = {}
local told = false
function image.display()
   if told then return end
   told = true
   io.stderr:write('image.display: pictures are not shown here; image.save(name, image.toDisplayTensor{...}) keeps them\n')
end
image.window = image.display

-- The pictures that an installation of Torch7, or a checkout, has.
local function picture(name, depth)
   return function()
      local path = paths.concat(torch.packageLuaPath('image'), 'assets', name)
      if paths.filep(path) then return image.load(path, depth) end
      error('no picture comes along; --torch-home or LUA_PATH finds those of an installation; image.load one of your own', 2)
   end
end
image.lena = picture('grace_hopper_512.jpg', 3)
image.fabio = picture('fabio.jpg', 1)

local function wrapped(name)
   local found, f = pcall(function() return functions[name] end)
   if not found then
      -- What is left out says what to use instead, when it is called.
      local message = tostring(f)
      if message:find('has no attribute') then return nil end
      return function() error(message, 2) end
   end
   if type(f) ~= 'function' then return f end
   return function(...)
      -- `image.display{image = x, zoom = 2}`
      if select('#', ...) == 1 and is_options((...)) then return with_options(f, (...)) end
      return f(...)
   end
end
return setmetatable(image, {__index = function(t, name)
   if type(name) ~= 'string' or name:find('^_') then return nil end
   local f = wrapped(name)
   rawset(t, name, f)
   return f
end})
