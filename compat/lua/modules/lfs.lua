-- LuaFileSystem.
local system = torch._t7.import('compat.lua.system')
local listed, attributes = system.names, system.attributes
lfs = {_VERSION = 'LuaFileSystem 1.8.0'}

lfs.currentdir, lfs.chdir, lfs.touch, lfs.link = system.cwd, system.chdir, system.touch, system.link
-- Their errors do not name the folder.
for _, name in ipairs{'mkdir', 'rmdir'} do
   local change = system[name]
   lfs[name] = function(folder)
      local done, message, number = change(folder)
      if done then return true end
      return nil, message:match(': ([^:]*)$') or message, number
   end
end

function lfs.dir(folder)
   local entries, message = listed(folder)
   if not entries then error(message, 2) end
   local i, open = 0, true
   local handle = {}
   function handle:next()
      if not open then error('closed directory', 2) end
      i = i + 1
      if not entries[i] then open = false end
      return entries[i]
   end
   function handle:close() open = false end
   return handle.next, handle
end

local function ask(path, what, follow)
   local found, message, number = attributes(path, follow)
   if not found then return nil, message, number end
   if type(what) == 'string' then
      if found[what] == nil then error("invalid attribute name '" .. what .. "'", 3) end
      return found[what]
   end
   if type(what) ~= 'table' then return found end
   for key, value in pairs(found) do what[key] = value end
   return what
end
function lfs.attributes(path, what) return ask(path, what, true) end
function lfs.symlinkattributes(path, what) return ask(path, what, false) end
function lfs.setmode(file, mode) return true, 'binary' end
function lfs.lock() return true end
function lfs.unlock() return true end

return lfs
