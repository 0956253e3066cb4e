-- Torch7's package paths: names of files, and what the file system says of them.
local system = torch._t7.import('compat.lua.system')
local kind, listed, current = system.kind, system.names, system.cwd
local make_folder, remove_folder = system.mkdir, system.rmdir
paths = {}

local function text(value, n)
   if type(value) == 'number' then return tostring(value) end
   if type(value) ~= 'string' then
      error(("bad argument #%d to '%s' (string expected, got %s)"):format(
         n, debug.getinfo(2, 'n').name or '?', value == nil and 'no value' or type(value)), 3)
   end
   return value
end

function paths.filep(name)
   local found = kind(text(name, 1))
   return found ~= nil and found ~= 'directory'
end
function paths.dirp(name) return kind(text(name, 1)) == 'directory' end

function paths.basename(name, suffix)
   name = text(name, 1)
   -- The last component with what follows it dropped; a name of slashes only has none.
   local base = name:match('([^/]+)/*$') or ''
   suffix = (suffix or ''):gsub('^%.', '')
   if suffix ~= '' and #base > #suffix and base:sub(-#suffix - 1) == '.' .. suffix then
      base = base:sub(1, -#suffix - 2)
   end
   return base
end

function paths.dirname(name)
   name = text(name, 1)
   local last -- the slash before the last component
   for place in name:gmatch('()/[^/]') do last = place end
   if not last then return name:sub(1, 1) == '/' and name or '.' end
   return name:sub(1, math.max(last - 1, 1))
end

function paths.extname(name)
   local found = text(name, 1):match('%.([^.]*)$')
   if found then return found end -- else no value, not nil
end
function paths.cwd() return current() end

function paths.concat(...)
   local path = current()
   for i = 1, select('#', ...) do
      local name = text((select(i, ...)), i)
      if name:sub(1, 1) == '/' then path = '/' end
      for part in name:gmatch('[^/]+') do
         if part == '..' then path = path:gsub('/+$', ''):gsub('[^/]*$', '')
         elseif part ~= '.' then path = path:gsub('/?$', '/', 1) .. part end
      end
      path = #path > 1 and path:gsub('/+$', '') or path
      if path == '' then path = '/' end
   end
   return path
end

function paths.execdir() return nil end
function paths.dir(name)
   local entries = listed(text(name, 1))
   return entries
end
function paths.tmpname() return system.temporary_name() end
function paths.mkdir(name)
   name = text(name, 1)
   local above = paths.dirname(name)
   if not paths.dirp(above) and above ~= name then paths.mkdir(above) end
   return make_folder(name)
end
function paths.rmdir(name) return remove_folder(text(name, 1)) end
function paths.uname() return system.uname() end
function paths.getregistryvalue() error('no registry on this system') end
function paths.require(name) return require(name) end
function paths.is_win() return paths.uname():match('Windows') end
function paths.is_mac() return paths.uname():match('Darwin') end
paths.home = os.getenv('HOME') or '.'

function paths.files(folder, wanted)
   local entries = paths.dir(folder) or {}
   if type(wanted) == 'string' then
      local pattern = wanted
      wanted = function(name) return name:find(pattern) end
   elseif wanted and type(wanted) ~= 'function' then
      error('Expecting optional arg 2 to be function or string. Got : ' .. torch.type(wanted))
   end
   local i = 0
   return function()
      repeat i = i + 1 until not entries[i] or not wanted or wanted(entries[i])
      return entries[i]
   end
end
local function only(test)
   return function(folder)
      return paths.files(folder, function(name)
         return name ~= '.' and name ~= '..' and test(paths.concat(folder, name))
      end)
   end
end
paths.iterdirs, paths.iterfiles = only(paths.dirp), only(paths.filep)

function paths.thisfile(name, depth)
   local source = debug.getinfo(depth or 2, 'S').source:match('^@(.*)')
   local file = source and paths.concat(source)
   if type(name) ~= 'string' then return file end
   return file and paths.concat(paths.dirname(file), name) or name
end
function paths.dofile(name, depth)
   local file = paths.thisfile(nil, 1 + (depth or 2))
   return dofile(file and paths.concat(paths.dirname(file), name) or name)
end

function paths.rmall(name, more)
   if more ~= 'yes' then return nil, "missing second argument ('yes')" end
   if paths.filep(name) then return os.remove(name) end
   if not paths.dirp(name) then return nil, 'not a file or directory', name end
   for entry in paths.files(name) do
      if entry ~= '.' and entry ~= '..' then
         local path = paths.concat(name, entry)
         local done, message = paths.rmall(path, more)
         if not done then return done, message, path end
      end
   end
   return paths.rmdir(name)
end

function paths.findprogram(...)
   for _, program in ipairs{...} do
      for folder in (os.getenv('PATH') or '.'):gmatch('[^:]+') do
         local path = paths.concat(folder, program)
         if paths.filep(path) then return path end
      end
   end
   return nil
end

return paths
