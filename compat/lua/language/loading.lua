-- Every way in which text becomes a function: the compiler gets it as rewrite.lua has it.
local jit, rewrite = ...
local type, error, pcall, find, byte, concat = type, error, pcall, string.find, string.byte, table.concat
local loadstring, loadfile, load, open, stdin = loadstring, loadfile, load, io.open, io.stdin

-- Whether a program has mentioned __lt or __le: from then on, comparisons may be other than the compiler's.
local ordered = false

local function compile(text, name, mode, env)
   if byte(text) ~= 27 then
      ordered = ordered or find(text, '__lt', 1, true) ~= nil or find(text, '__le', 1, true) ~= nil
      local f
      if not ordered and not find(text, '#', 1, true) then f = loadstring(text, name, mode) end
      if not f then
         name = name or text
         text = rewrite(text, ordered)
      elseif env == nil then
         return f
      end
   end
   local f, message = loadstring(text, name, mode)
   if f and env ~= nil then setfenv(f, env) end
   return f, message
end

function _G.loadstring(text, ...)
   if type(text) ~= 'string' then return loadstring(text, ...) end
   return compile(text, ...)
end

local function gather(read)
   local parts = {}
   while true do
      local part = read()
      if part == nil or part == '' then return concat(parts) end
      if type(part) ~= 'string' then error('reader function must return a string', 0) end
      parts[#parts + 1] = part
   end
end
function _G.load(text, name, mode, env)
   if type(text) == 'function' then
      local ok, all = pcall(gather, text)
      if not ok then return nil, all end
      return compile(all, name or '=(load)', mode, env)
   end
   if type(text) ~= 'string' then return load(text, name, mode, env) end
   return compile(text, name, mode, env)
end

local function load_file(path, mode, env)
   local text
   if path == nil then
      text = stdin:read('*a')
   elseif type(path) == 'string' then
      local file = open(path, 'rb')
      text = file and file:read('*a')
      if file then file:close() end
   end
   if not text then return loadfile(path, mode, env) end
   -- Only for files does Lua 5.1 itself pass over such a line.
   if not jit then text = text:gsub('^#[^\n]*', '') end
   return compile(text, path and '@' .. path or '=stdin', mode, env)
end
_G.loadfile = load_file

local function results(...) return ... end
function _G.dofile(path)
   local f, message = load_file(path)
   if not f then error(message, 0) end
   return results(f())
end

package.searchpath = package.searchpath or function(name, path)
   local tried = {}
   for place in path:gmatch('[^;]+') do
      place = place:gsub('%?', (name:gsub('%.', '/'):gsub('%%', '%%%%')))
      local file = open(place)
      if file then
         file:close()
         return place
      end
      tried[#tried + 1] = "\n\tno file '" .. place .. "'"
   end
   return nil, concat(tried)
end
local searchpath = package.searchpath
package.loaders[2] = function(name)
   if type(package.path) ~= 'string' then error("'package.path' must be a string", 0) end
   local path, tried = searchpath(name, package.path)
   if not path then return tried end
   local f, message = load_file(path)
   if f then return f end
   error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, message), 0)
end
package.searchers = package.loaders
