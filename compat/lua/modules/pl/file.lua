-- pl.file
local utils, path = require 'pl.utils', require 'pl.path'
local file = {read = utils.readfile, write = utils.writefile, delete = os.remove, access_time = path.getatime,
              creation_time = path.getctime, modified_time = path.getmtime}
function file.copy(source, target)
   local text, message = utils.readfile(source, true)
   if not text then return false, message end
   if path.isdir(target) then target = path.join(target, path.basename(source)) end
   local ok, complaint = utils.writefile(target, text, true)
   return ok or false, complaint
end
function file.move(source, target)
   if os.rename(source, target) then return true end
   local ok, message = file.copy(source, target)
   if ok then return os.remove(source) end
   return ok, message
end
return file
