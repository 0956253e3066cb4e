-- Every way in which text becomes a function: the compiler gets it as rewrite.lua has it.
local jit, rewrite = ...
local type, error, pcall, setfenv = type, error, pcall, setfenv
local find, byte, concat = string.find, string.byte, table.concat
local loadstring, loadfile, load, open, stdin = loadstring, loadfile, load, io.open, io.stdin

-- Whether a program has mentioned __lt or __le: from then on, comparisons may be other than the compiler's.
local ordered = false

local function plain(text)
   ordered = ordered or find(text, '__lt', 1, true) ~= nil or find(text, '__le', 1, true) ~= nil
   return byte(text) == 27 or not ordered and not find(text, '#', 1, true)
end

local function compile(text, name, mode, env)
   local f, message
   if plain(text) then f, message = loadstring(text, name, mode) end
   if not f and byte(text) ~= 27 then f, message = loadstring(rewrite(text, ordered), name or text, mode) end
   if f and type(env) == 'table' then setfenv(f, env) end
   return f, message
end

function _G.loadstring(...)
   if type((...)) ~= 'string' then return loadstring(...) end
   return compile(...)
end

-- A function that gives pieces of text is asked for no more of them than the compiler asks for, which stops at an error:
-- only if that may be none for us is the rest read.
local function compile_pieces(read, name, mode, env)
   local parts, failed, failure = {}, false, nil
   local function next_part()
      -- Who handles errors of the program would have this one, too.
      local ok, part = pcall(read)
      if not ok then failed, failure, part = true, part, nil end
      if type(part) == 'string' and part ~= '' then
         parts[#parts + 1] = part
         return part
      end
      read = nil
      return part
   end
   local f, message = load(next_part, name, mode, env)
   if failed then return nil, failure end
   local text = concat(parts)
   if f and plain(text) then return f end
   if not f and read then
      local syntax = type(message) == 'string' and
         (find(message, 'ambiguous syntax', 1, true) or find(message, "near ';'", 1, true) or find(text, 'break', 1, true))
      if not syntax then return f, message end
      while read do next_part() end
      if failed then return nil, failure end
      text = concat(parts)
   end
   if parts[1] then return compile(text, name or '=(load)', mode, env) end
   return f, message
end
function _G.load(...)
   local kind = type((...))
   if kind == 'function' then return compile_pieces(...) end
   if kind ~= 'string' then return load(...) end
   return compile(...)
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
   if not f then return error(message, 0) end
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
