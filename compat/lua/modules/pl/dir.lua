-- pl.dir
local lfs, path, tablex = require 'lfs', require 'pl.path', require 'pl.tablex'
local dir = {}
local function list(items) return setmetatable(items, require 'pl.List') end

local function to_pattern(mask)
   return '^' .. mask:gsub('%p', '%%%0'):gsub('%%%*', '.*'):gsub('%%%?', '.') .. '$'
end
function dir.fnmatch(name, mask) return name:find(to_pattern(mask)) ~= nil end
function dir.filter(names, mask)
   return list(tablex.filter(names, function(name) return dir.fnmatch(path.basename(name), mask) end))
end

local function entries(folder, wanted, mask)
   folder = folder or '.'
   local found = {}
   for name in lfs.dir(folder) do
      if name ~= '.' and name ~= '..' and (not mask or dir.fnmatch(name, mask)) then
         local whole = path.join(folder, name)
         if wanted(whole) then found[#found + 1] = whole end
      end
   end
   return list(found)
end
function dir.getfiles(folder, mask) return entries(folder, path.isfile, mask) end
function dir.getdirectories(folder) return entries(folder, path.isdir) end
function dir.getallfiles(folder, mask)
   local found = {}
   for root, _, files in dir.walk(folder) do
      for _, name in ipairs(files) do
         if not mask or dir.fnmatch(name, mask) then found[#found + 1] = path.join(root, name) end
      end
   end
   return list(found)
end
function dir.walk(root, bottom_up)
   return coroutine.wrap(function()
      local function visit(folder)
         local folders = tablex.imap(path.basename, dir.getdirectories(folder))
         local files = tablex.imap(path.basename, dir.getfiles(folder))
         if not bottom_up then coroutine.yield(folder, folders, files) end
         for _, name in ipairs(folders) do visit(path.join(folder, name)) end
         if bottom_up then coroutine.yield(folder, folders, files) end
      end
      visit(root)
   end)
end
function dir.dirtree(root)
   return coroutine.wrap(function()
      local function visit(folder)
         for name in lfs.dir(folder) do
            if name ~= '.' and name ~= '..' then
               local whole = path.join(folder, name)
               local is_folder = path.isdir(whole)
               coroutine.yield(whole, is_folder)
               if is_folder then visit(whole) end
            end
         end
      end
      visit(root)
   end)
end
function dir.makepath(name)
   local ok, message = paths.mkdir(paths.concat(name))
   if ok or path.isdir(name) then return true end
   return nil, message
end
function dir.rmtree(name)
   if not path.isdir(name) then return nil, 'not a directory' end
   return paths.rmall(name, 'yes')
end
function dir.copyfile(source, target) return require('pl.file').copy(source, target) end
function dir.movefile(source, target) return require('pl.file').move(source, target) end
function dir.clonetree(source, target)
   dir.makepath(target)
   for _, name in ipairs(dir.getfiles(source)) do dir.copyfile(name, path.join(target, path.basename(name))) end
   for _, name in ipairs(dir.getdirectories(source)) do dir.clonetree(name, path.join(target, path.basename(name))) end
   return true
end
return dir
