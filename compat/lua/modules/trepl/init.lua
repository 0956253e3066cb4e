-- What `th` adds to Lua: how values are printed, `require './file'`, import, who, and the evaluation of lines.
require 'torch'
require 'paths'
require 'sys'
require 'dok'
require 'pl'
local colors, colorize = require 'trepl.colors', require 'trepl.colorize'
local trepl = {}

function noColors() for name in pairs(colors) do colors[name] = '' end end

-- Printing ------------------------------------------------------------------------------------------------

local function short_name(object) return (torch.typename(object):match('torch%.(.+)')) end
local function summary(object)
   if torch.isStorage(object) then return short_name(object) .. ' - size: ' .. object:size() end
   if object:dim() == 0 then return short_name(object) .. ' - empty' end
   return short_name(object) .. ' - size: ' .. table.concat(object:size():totable(), 'x')
end

local COLOR = {number = 'cyan', boolean = 'blue', ['function'] = 'magenta', table = 'green', userdata = 'red',
               cdata = 'red', ['nil'] = 'Black'}
local function shown(object, nested)
   local kind = type(object)
   if kind == 'string' then
      return nested and colorize.Black('"') .. colorize.green(object) .. colorize.Black('"') or colorize.none(object)
   end
   local text = kind == 'userdata' and (torch.isTensor(object) or torch.isStorage(object)) and summary(object)
      or tostring(object)
   return colorize[COLOR[kind] or '_black'](text)
end

local depth_limit = 5
local function print_table(t, depth)
   local function line(text, indent) io.write((' '):rep(indent), text, '\n') end
   local indent = depth * 4
   if next(t) == nil then return line('{}', indent) end
   line('{', indent)
   for key, value in pairs(t) do
      if type(value) ~= 'table' then line(tostring(key) .. ' : ' .. shown(value, true), indent + 2)
      elseif depth >= depth_limit - 1 or next(value) == nil then line(tostring(key) .. ' : {...}', indent + 2)
      else
         line(tostring(key) .. ' : ', indent + 2)
         print_table(value, depth + 1)
      end
   end
   line('}', indent)
end

local function is_plain_table(object)
   if type(object) ~= 'table' then return false end
   local mt = getmetatable(object)
   return not (mt and type(mt) == 'table' and mt.__tostring)
end

-- As th prints: each object by itself.
local function print_each(...)
   local n = select('#', ...)
   for i = 1, n do
      local object = (select(i, ...))
      if is_plain_table(object) then print_table(object, 0)
      elseif type(object) == 'table' or type(object) == 'userdata' or type(object) == 'cdata' then
         io.write(tostring(object), '\n')
      else io.write(shown(object), i < n and '\t' or '\n') end
   end
   io.flush()
end

-- A script's print is Lua's own, but for tables, of which it would tell the address only.
print_old = print_old or print
local lua_print = print_old
function print_new(...)
   for i = 1, select('#', ...) do
      if is_plain_table((select(i, ...))) then return print_each(...) end
   end
   return lua_print(...)
end
print = print_new
function setprintlevel(n)
   if n == nil or n < 0 then error('expected number [0,+)') end
   depth_limit = math.floor(n)
   print = depth_limit == 0 and print_old or print_new
end

-- Packages ------------------------------------------------------------------------------------------------

local function code_at(path)
   for _, ending in ipairs{'.lua', '', '/init.lua'} do
      if paths.filep(path .. ending) and not path:find('%.th$') then return path .. ending end
   end
end

-- What is found nowhere else may be a file: require 'models/net.lua'.
table.insert(package.loaders, function(name)
   local file = code_at('./' .. name)
   return file and assert(loadfile(file))
end)

local lua_require = require
function require(name)
   if type(name) ~= 'string' or not name:find('^%.') then return lua_require(name) end
   local file = debug.getinfo(2, 'S').source:match('^@(.*)')
   local path = paths.concat(file and paths.filep(file) and paths.dirname(file) or '.', name)
   local code = code_at(path)
   if code then return dofile(code) end
   for _, ending in ipairs{'', '.th', '.net'} do
      if paths.filep(path .. ending) then return torch.load(path .. ending) end
   end
   error("module '" .. name .. "' not found: no file '" .. path .. ".lua'", 2)
end

function import(name, forced)
   local found = require(name)
   local symbols = _G[name] or found
   if type(symbols) ~= 'table' then return end
   for key, value in pairs(symbols) do
      if forced or not _G[key] then _G[key] = value end
   end
end

local before = {}
function who(system)
   local function list(title, wanted)
      print_old(title)
      local names, width = {}, 0
      for name in pairs(_G) do
         if (before[name] or false) == wanted then
            names[#names + 1] = tostring(name)
            width = math.max(width, #tostring(name))
         end
      end
      table.sort(names)
      for _, name in ipairs(names) do
         local value = _G[name]
         local text = type(value) == 'string' and 'string : "' .. value:gsub('\n', '\\n'):sub(1, 40) .. '"' or
            torch.type(value) == 'table' and 'table - size: ' .. #value or
            type(value) == 'table' and torch.type(value) or
            (torch.isTensor(value) or torch.isStorage(value)) and summary(value) or tostring(value)
         print_old(('%-' .. width + 4 .. 's = %s'):format('[' .. name .. ']', text))
      end
   end
   if system then list('== System Variables ==', true) end
   list('== User Variables ==', false)
   print_old('==')
end

-- Lines of the prompt -------------------------------------------------------------------------------------

_RESULTS, _LAST = {}, ''
local HELP = [[
  expression        its values are printed (`=expression` too; not with `;` at the end)
  statement         an unfinished one goes on in the next line; an empty line gives it up
  $ command         a command of the shell; its output is _LAST
  <Tab>             names and fields;   who()  your variables;   import 'torch'  its names
  exit, <Ctrl-D>    ends]]

local function handler(object)
   torch._t7.unhook(object)
   local text = type(object) == 'string' and object or
      type(object) == 'userdata' and torch._t7.python.describe_error and not torch.typename(object) and
      select(2, torch._t7.python.describe_error(object)) or tostring(object)
   local stack = debug.traceback('', 2):gsub('^\n', '')
   return text .. '\n' .. stack:gsub("\n[^\n]*'xpcall'\n[^\n]*trepl/init.lua:.*$", '')
end

local function pack(...) return {n = select('#', ...), ...} end

-- Runs a line. Returns nothing; 'more' if it is not finished, and not the last; or the text of its error.
function trepl.evaluate(line, last)
   if line:find('^%s*$') then return end
   local shell = line:match('^%s*%$(.*)')
   if shell then
      local pipe = io.popen(shell)
      local output = pipe:read('*a')
      pipe:close()
      io.write(output)
      table.insert(_RESULTS, output)
      _LAST = output
      return
   end
   if line:find('^%s*%?') then
      io.write(HELP, '\n')
      return
   end
   line = line:gsub('^%s*=', '')
   local silent = line:find(';%s*$')
   -- As arguments: a call that is the line itself would lose its place in errors.
   local expression = loadstring('return ' .. line, '=stdin') and
      'return (...)(' .. line:gsub(';%s*$', '') .. '\n)'
   local code, message = loadstring(expression or line, '=stdin')
   if not code then
      return not last and message:find("'<eof>'", 1, true) and 'more' or 'syntax error: ' .. message
   end
   -- So that Ctrl-C ends loops of this line, too: compiled ones look at no hook.
   if jit then jit.off(code, true) end
   local ok, results = xpcall(function() return code(pack) end, handler)
   local complaint = not ok and results or nil
   if ok and expression and not silent and results.n > 0 then
      print_each(unpack(results, 1, results.n))
      table.insert(_RESULTS, results[1])
      _LAST = _RESULTS[#_RESULTS]
   end
   return complaint
end

-- How long a line took.
function trepl.print_time(seconds) io.write((' '):rep(70), colorize.Black(('[%0.04fs]'):format(seconds)), '\n') end

-- The object that `torch` or `net.modules[1]` names.
local function named(path)
   local object, rest = _G, path
   while rest ~= '' do
      local name, after = rest:match('^[.:]?([%a_][%w_]*)(.*)$')
      if not name then
         name, after = rest:match('^%[([%d.-]+)%](.*)$')
         name = tonumber(name)
      end
      if name == nil then return nil end
      local ok, value = pcall(function() return object[name] end)
      if not ok or value == nil then return nil end
      object, rest = value, after
   end
   return object
end

-- Calls `found(name, value)` for the fields and methods of an object.
local function each_name(object, found)
   if type(object) == 'table' then
      for key, value in pairs(object) do found(key, value) end
      for _, name in ipairs(torch._t7.method_names(object)) do found(name, print) end
   end
   local seen = {}
   local mt = debug.getmetatable(object)
   while mt and not seen[mt] do
      seen[mt] = true
      for key, value in next, mt do found(key, value) end
      local index = rawget(mt, '__index')
      mt = type(index) == 'table' and index or debug.getmetatable(mt)
   end
end

-- What a word at the prompt may become.
function trepl.complete(word)
   -- Within brackets that are still open.
   local outside = word:match('^.*%[') or ''
   if outside:find('^[^%]]*$') == nil or word:sub(#outside + 1):find('%]') then outside = '' end
   local place, separator, start = word:sub(#outside + 1):match('^(.-)([.:]?)([%w_]*)$')
   local object = named(place)
   if object == nil or place == '' and separator ~= '' then return {} end
   local found, seen = {}, {}
   each_name(object, function(key, value)
      if type(key) ~= 'string' or not key:find('^[%a_][%w_]*$') or key:sub(1, #start) ~= start or seen[key] then return end
      local is_function = type(value) == 'function'
      if separator == ':' and not is_function or start == '' and key:sub(1, 1) == '_' then return end
      seen[key] = true
      found[#found + 1] = outside .. place .. separator .. key .. (is_function and '(' or '')
   end)
   table.sort(found)
   return found
end

-- The prompt within a script: `repl()`.
function repl()
   while true do
      io.write('th> ')
      io.flush()
      local line = io.read('*l')
      if not line or line == 'exit' or line == 'break' then return end
      local complaint = trepl.evaluate(line)
      while complaint == 'more' do
         io.write('..> ')
         io.flush()
         local following = io.read('*l')
         line = line .. '\n' .. (following or '')
         complaint = trepl.evaluate(line, not following or following == '')
      end
      if complaint then io.stderr:write(complaint, '\n') end
   end
end

for name in pairs(_G) do before[name] = true end
return setmetatable(trepl, {__call = function() return repl() end})
