-- pl.compat: what later Luas have, under one name; requiring it gives Lua 5.1 their table.pack and package.searchpath.
function table.pack(...) return {n = select('#', ...), ...} end

package.searchpath = package.searchpath or function(name, path)
   local tried = {}
   for pattern in path:gmatch('[^;]+') do
      local file = pattern:gsub('%?', (name:gsub('%.', '/')))
      local found = io.open(file)
      if found then
         found:close()
         return file
      end
      tried[#tried + 1] = "\n\tno file '" .. file .. "'"
   end
   return nil, table.concat(tried)
end

local compat = {lua51 = true, jit = jit ~= nil, jit52 = false, is_windows = false, dir_separator = '/'}
compat.getfenv, compat.setfenv = getfenv, setfenv

function compat.execute(command)
   local code = os.execute(command)
   return code == 0, code > 255 and math.floor(code / 256) or code
end

-- A chunk from a text or a function that gives its parts, of the kind that `mode` says, in an environment.
function compat.load(text, name, mode, env)
   local function refused(kind)
      if mode and not mode:find(kind == 'binary' and 'b' or 't') then
         return ("attempt to load a %s chunk (mode is '%s')"):format(kind, mode)
      end
   end
   local parts = {text}
   if type(text) == 'function' then
      parts = {}
      for part in text do
         if part == '' then break end
         parts[#parts + 1] = part
      end
   end
   text = table.concat(parts)
   local message = refused(text:sub(1, 1) == '\27' and 'binary' or 'text')
   if message then return nil, message end
   local chunk, failed = loadstring(text, name)
   if chunk and env then setfenv(chunk, env) end
   return chunk, failed
end
return compat
