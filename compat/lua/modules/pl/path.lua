-- pl.path
local lfs = require 'lfs'
local path = {sep = '/', dirsep = ':', is_windows = false}
local utils = require 'pl.utils'
local function mode(name) return lfs.attributes(utils.assert_arg(1, name, 'string', nil, nil, 4), 'mode') end
path.dir, path.mkdir, path.rmdir, path.chdir, path.attrib = lfs.dir, lfs.mkdir, lfs.rmdir, lfs.chdir, lfs.attributes
path.currentdir, path.link_attrib = lfs.currentdir, lfs.symlinkattributes
function path.isdir(name) return mode(name) == 'directory' end
function path.isfile(name) return mode(name) == 'file' end
function path.islink(name) return lfs.symlinkattributes(name, 'mode') == 'link' end
function path.getsize(name) return lfs.attributes(name, 'size') end
function path.exists(name) return mode(name) ~= nil and name end
function path.getatime(name) return lfs.attributes(name, 'access') end
function path.getmtime(name) return lfs.attributes(name, 'modification') end
function path.getctime(name) return lfs.attributes(name, 'change') end
function path.isabs(name) return name:sub(1, 1) == '/' end

function path.splitpath(name)
   local folder, base = name:match('^(.*)/([^/]*)$')
   if not folder then return '', name end
   return folder, base
end
function path.splitext(name)
   local root, ending = name:match('^(.*[^/])(%.[^./]*)$')
   if not root then root, ending = name:match('^(.-)(%.[^./]*)$') end
   if not root or root == '' and not ending then return name, '' end
   return root, ending
end
function path.dirname(name) return (path.splitpath(name)) end
function path.basename(name) return select(2, path.splitpath(name)) end
function path.extension(name) return select(2, path.splitext(name)) end
function path.abspath(name, folder)
   name = name:gsub('[\\/]$', '')
   if not path.isabs(name) then name = path.join(folder or lfs.currentdir(), name) end
   return path.normpath(name)
end
function path.join(first, ...)
   utils.assert_string(1, first)
   for i = 1, select('#', ...) do
      local name = utils.assert_string(i + 1, (select(i, ...)))
      if path.isabs(name) then first = name
      else first = first == '' and name or first:gsub('([^/])$', '%1/') .. name end
   end
   return first
end
function path.normcase(name) return name end
function path.normpath(name)
   local parts = {}
   for part in name:gmatch('[^/]+') do
      if part == '..' and #parts > 0 and parts[#parts] ~= '..' then parts[#parts] = nil
      elseif part ~= '.' and not (part == '..' and path.isabs(name)) then parts[#parts + 1] = part end
   end
   local result = (path.isabs(name) and '/' or '') .. table.concat(parts, '/')
   return result == '' and '.' or result
end
function path.relpath(name, start)
   local function split(text)
      local parts = {}
      for part in path.abspath(text):gmatch('[^/]+') do parts[#parts + 1] = part end
      return parts
   end
   local target, from = split(name), split(start or lfs.currentdir())
   local same = 0
   while target[same + 1] and target[same + 1] == from[same + 1] do same = same + 1 end
   local parts = {}
   for _ = same + 1, #from do parts[#parts + 1] = '..' end
   for i = same + 1, #target do parts[#parts + 1] = target[i] end
   return #parts > 0 and table.concat(parts, '/') or ''
end
function path.expanduser(name)
   if name:sub(1, 1) ~= '~' then return name end
   return (os.getenv('HOME') or '') .. name:sub(2)
end
function path.tmpname() return os.tmpname() end
function path.common_prefix(a, b)
   if #a > #b then a, b = b, a end
   local last = 0
   for i = 1, #a do
      if a:byte(i) ~= b:byte(i) then break end
      if a:sub(i, i) == '/' then last = i end
   end
   if a == b:sub(1, #a) then return #a == #b and path.dirname(a) or a end
   return last > 1 and a:sub(1, last - 1) or ''
end
function path.package_path(name)
   if package.preload[name] then return name, true end
   for template in package.path:gmatch('[^;]+') do
      local file = template:gsub('%?', (name:gsub('%.', '/')))
      if path.isfile(file) then return file, true end
   end
   return nil, 'cannot find module on path'
end
return path
