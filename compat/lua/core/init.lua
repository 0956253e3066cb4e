-- The functions of torch that are Lua there, too.
local t7 = ...
local torch = t7.torch

-- Lua 5.1 formats strings only with %s; LuaJIT whatever has a text.
if not pcall(string.format, '%s', nil) then
   local format = string.format
   function string.format(text, ...)
      local args, n, i = {...}, select('#', ...), 0
      for flags in text:gsub('%%%%', ''):gmatch('%%[-+ #0-9.]*(%a)') do
         i = i + 1
         if flags == 's' and i <= n then args[i] = tostring(args[i]) end
      end
      return format(text, unpack(args, 1, n))
   end
end

-- Nor has lupa's Lua 5.1 a popen: a named pipe serves.
if not jit then
   function io.popen(command, mode)
      local path = t7.call(t7.python.named_pipe, command, mode or 'r')
      local file, message = io.open(path, mode or 'r')
      os.remove(path)
      return file, message
   end
end

function torch.updatethreadlocals() end
function torch.updateerrorhandlers() end
torch._heaptracking = true

function torch.packageLuaPath(name)
   if not name then return torch.packageLuaPath('torch'):match('(.*)/') end
   for path in package.path:gmatch('[^;]+') do
      path = path:gsub('%?', name)
      local f = io.open(path)
      if f then
         f:close()
         return path:match('(.*)/')
      end
   end
   local folder = t7.package_folder .. '/' .. name
   if name == 'torch' then return folder end
   for _, file in ipairs{folder .. '.lua', folder .. '/init.lua'} do
      local f = io.open(file)
      if f then
         f:close()
         return folder
      end
   end
end

function torch.include(package, file)
   local path = (torch.packageLuaPath(package) or t7.package_folder .. '/' .. package) .. '/' .. file
   local found = io.open(path)
   if found then found:close() end
   dofile(found and path or t7.find_in_checkouts and t7.find_in_checkouts(package .. '.' .. file:gsub('%.lua$', '')) or path)
end

-- A file beside the one that calls.
function include(file, depth)
   paths.dofile(file, 3 + (depth or 0))
end

-- Classes that scripts made. Those that come along give way to an original's of the same name.
local scripts = setmetatable({}, {__mode = 'k'})
t7.replaceable = setmetatable({}, {__mode = 'k'})
local registry = t7.registry
local function give_way(name)
   local mt = registry[name]
   if mt and not scripts[mt] and mt.__typename == name and (t7.exporters[mt] or t7.replaceable[mt]) then
      registry[mt], registry[name] = nil, nil
   end
end

function torch.class(...)
   local name, parent, module = ...
   local n = select('#', ...)
   local shapes = type(name) == 'string' and
      ((n == 3 and type(parent) == 'string' and type(module) == 'table') or
       (n == 2 and (type(parent) == 'string' or type(parent) == 'table')) or n == 1)
   if not shapes then error('<class name> [<parent class name>] [<module table>] expected') end
   if type(parent) == 'table' then parent, module = nil, parent end
   give_way(name)

   local function factory()
      local self = {}
      torch.setmetatable(self, name)
      return self
   end
   local function constructor(...)
      local self = {}
      torch.setmetatable(self, name)
      if self.__init then self:__init(...) end
      return self
   end
   local after
   if parent then constructor, factory, after = t7.class_hook(name, parent, constructor, factory) end
   local mt = torch.newmetatable(name, parent, constructor, nil, factory, module)
   if after then after(mt) end
   local comes_along = debug.getinfo(2, 'S').source:find('@' .. t7.package_folder, 1, true) == 1
   if comes_along then t7.replaceable[mt] = true else scripts[mt] = true end
   return mt, parent and torch.getmetatable(parent) or nil
end

function torch.setdefaulttensortype(name)
   assert(type(name) == 'string', 'string expected')
   local constructor = torch.getconstructortable(name)
   if not constructor then
      error(string.format('<%s> is not a string describing a torch object', name))
   end
   torch.Tensor = constructor
   torch.Storage = torch.getconstructortable((name:gsub('Tensor$', 'Storage')))
   t7.python.set_default_type(name)
end
function torch.getdefaulttensortype()
   local mt = getmetatable(torch.Tensor)
   return mt and mt.__typename
end

function torch.type(x)
   return torch.typename(x) or type(x)
end

function torch.isTypeOf(x, spec)
   if type(spec) ~= 'string' then
      spec = getmetatable(spec).__typename
      assert(type(spec) == 'string', 'type must be provided as [regexp] string, or factory')
   end
   local mt = getmetatable(x)
   while mt do
      if type(mt) == 'table' and mt.__typename then
         local match = mt.__typename:match(spec)
         if match and (match ~= spec or match == mt.__typename) then return true end
      end
      mt = getmetatable(mt)
   end
   return false
end

function torch.isTensor(x)
   local name = torch.typename(x)
   return (name and name:find('torch.*Tensor')) and true or false
end
function torch.isStorage(x)
   local name = torch.typename(x)
   return (name and name:find('torch.*Storage')) and true or false
end
function torch.totable(x)
   if torch.isTensor(x) or torch.isStorage(x) then return x:totable() end
   error('obj must be a Storage or a Tensor')
end
