-- Torch7's package xlua: progress bars, named arguments, tables and strings.
local sys = require 'sys'
local torch = require 'torch'
local system = torch._t7.import('compat.lua.system')
xlua = {}

local before = {}
for name in pairs(_G) do before[name] = true end

require 'xlua.OptionParser'
require 'xlua.Profiler'

-- Printing ------------------------------------------------------------------------------------------------

function xlua.print(object, ...)
   local write = io.write
   if type(object) ~= 'table' then write(tostring(object))
   else
      local mt = getmetatable(object)
      if mt and mt.__tostring__ then write(mt.__tostring__(object))
      else
         local text = tostring(object)
         if not text:find('table: ') then
            write(type(object.usage) == 'string' and object.usage .. '\n\nFIELDS:\n' or text .. ':\n')
         end
         local parts = {}
         for key, value in pairs(object) do
            local shown = type(value) == 'userdata' and '<userdata>' or tostring(value):gsub('\n', '\\n')
            if #shown > 40 then shown = shown:sub(1, 40) .. sys.COLORS.none .. ' ... ' end
            parts[#parts + 1] = '[' .. tostring(key) .. '] = ' .. shown
         end
         write('{', table.concat(parts, ',\n '), '}')
      end
   end
   if select('#', ...) > 0 then
      write('    ')
      print(...)
   else write('\n') end
end
xprint = xlua.print

function xlua.log(file, append)
   os.execute('mkdir -p "' .. sys.dirname(file) .. '"')
   local log = assert(io.open(file, append and 'a' or 'w'))
   local write = io.write
   io._write, _print = write, print
   print = xlua.print
   function io.write(...)
      write(...)
      log:write(...)
      log:flush()
   end
end

local function is_library(name) return package.loaded[name] ~= nil end
function xlua.clearall()
   for name in pairs(_G) do
      if not before[name] then
         _G[name] = nil
         if is_library(name) then package.loaded[name] = nil end
      end
   end
   collectgarbage()
end
function xlua.clear(name)
   _G[name] = nil
   collectgarbage()
end
function xlua.who()
   local variables, libraries = {}, {}
   for name, value in pairs(_G) do
      if is_library(name) and name ~= '_G' then libraries[#libraries + 1] = name
      elseif not before[name] then variables[name] = value end
   end
   for _, shown in ipairs{'', 'Global Libs:', libraries, '', 'Global Vars:', variables, ''} do xlua.print(shown) end
end

-- Progress ------------------------------------------------------------------------------------------------

function xlua.formatTime(seconds)
   local parts = {}
   for _, unit in ipairs{{86400, 'D'}, {3600, 'h'}, {60, 'm'}, {1, 's'}} do
      local count = math.floor(seconds / unit[1])
      seconds = seconds - count * unit[1]
      if count > 0 and (#parts < 2) then parts[#parts + 1] = count .. unit[2] end
   end
   local milliseconds = math.floor(seconds * 1000)
   if milliseconds > 0 and #parts < 2 then parts[#parts + 1] = milliseconds .. 'ms' end
   return #parts > 0 and table.concat(parts) or '0ms'
end

local done, previous, suffix = true, -1, ''
local started, times, indices, width
function xlua.progress(current, goal)
   width = width or math.min(system.columns(), 120)
   local length = width - 34
   local percent = math.floor(current * length / goal)
   local out = {}
   local function write(...) for i = 1, select('#', ...) do out[#out + 1] = tostring((select(i, ...))) end end
   if done and (previous == -1 or percent < previous) then
      done, previous, suffix = false, -1, ''
      started = sys.clock()
      times, indices = {0}, {current}
   else write('\r') end
   if not done then
      previous = percent
      write(' [', ('='):rep(math.min(percent - 1, length)), percent >= 1 and percent <= length and '>' or '',
            ('.'):rep(length - math.max(percent, 0)), '] ',
            (' '):rep(width - length - 4), ('\b'):rep(width - length - 4))
      local elapsed = sys.clock() - started
      local step = current == indices[1] and 0 or (elapsed - times[1]) / (current - indices[1])
      local remaining = math.max(0, (goal - current) * step)
      table.insert(indices, current)
      table.insert(times, elapsed)
      if #indices > 100 then
         table.remove(indices, 1)
         table.remove(times, 1)
      end
      suffix = (percent < length and ' ETA: ' .. xlua.formatTime(remaining) or ' Tot: ' .. xlua.formatTime(elapsed)) ..
         ' | Step: ' .. xlua.formatTime(step)
      write(suffix, ('\b'):rep(math.floor(5 + #suffix + length / 2)), ' ', current, '/', goal, ' ')
      if percent == length then
         done = true
         write('\n')
      end
      write('\r')
      io.write(table.concat(out))
      io.flush()
   end
end

-- Errors and packages -------------------------------------------------------------------------------------

function xlua.error(message, domain, usage)
   if domain then message = '<' .. domain .. '> ' .. message end
   message = sys.COLORS.Red .. tostring(message) .. sys.COLORS.none
   error(usage and message .. '\n' .. usage or message)
end
xerror = xlua.error

function xlua.trycatch(try, catch)
   local ok, message = pcall(try)
   if not ok then catch(message) end
end

function xlua.installed(name)
   if package.preload[name] then return true, name end
   for template in (package.path .. ';' .. package.cpath):gmatch('[^;]+') do
      local file = template:gsub('%?', name)
      if paths.filep(file) then return true, file end
   end
   return false
end
function xlua.require(name)
   local ok, loaded = pcall(require, name)
   if ok then return loaded end
   print(loaded)
   print('warning: <' .. name .. '> could not be loaded (is it installed?)')
   return false
end
xrequire = xlua.require

-- Named arguments -----------------------------------------------------------------------------------------

local function quoted(value)
   if type(value) == 'table' then return xlua.table2string(value) end
   if type(value) ~= 'string' then return tostring(value) end
   value = value:gsub('\n', '\\n')
   if value:gsub('[^\'"]', ''):match('^"+$') then return "'" .. value .. "'" end
   return '"' .. value:gsub('"', '\\"') .. '"'
end
function xlua.table2string(t, newline)
   local parts, seen = {}, {}
   for i, value in ipairs(t) do
      parts[i], seen[i] = quoted(value), true
   end
   for key, value in pairs(t) do
      if not seen[key] then
         local plain = type(key) == 'string' and key:match('^[_%a][_%w]*$')
         parts[#parts + 1] = (plain and key or '[' .. quoted(key) .. ']') .. (newline and ' : ' or '=') .. quoted(value)
      end
   end
   if newline then return '{\n   ' .. table.concat(parts, '\n   ') .. '\n}' end
   return '{' .. table.concat(parts, ',') .. '}'
end

local function default_of(argument)
   if type(argument.default) == 'table' then return '  [default = ' .. xlua.table2string(argument.default) .. ']' end
   if argument.default ~= nil then return '  [default = ' .. tostring(argument.default) .. ']' end
   if argument.defaulta then return '  [default == ' .. argument.defaulta .. ']' end
   return ''
end
function xlua.usage(name, description, example, ...)
   local c = sys.COLORS
   local rule = ('+'):rep(69)
   local lines = {rule, c.Magenta .. name .. c.none}
   if description then lines[#lines + 1] = '\n' .. description end
   lines[#lines + 1] = '\n' .. c.blue .. '> ' .. c.none .. 'usage:'
   local arguments = {...}
   if arguments[1] and arguments[1].tabled then arguments = arguments[1].tabled end
   local named = arguments[1] and arguments[1].arg
   lines[#lines + 1] = c.cyan .. name .. (named and '{' or '(')
   for i, argument in ipairs(arguments) do
      if argument == '' then
         lines[#lines + 1] = ')'
         lines[#lines + 1] = name .. '('
      else
         local kind = named and argument.arg .. ' = ' .. argument.type or argument.type
         local key = '    ' .. (argument.req and kind or '[' .. kind .. ']')
         lines[#lines + 1] = ('%-40s-- %s%s'):format(key, argument.help or '', named and default_of(argument) or '')
      end
   end
   lines[#lines + 1] = (named and '}' or ')')
   lines[#lines + 1] = c.none
   local text = table.concat(lines, '\n')
   if example then text = text .. '\n' .. c.cyan .. example .. c.none .. '\n' end
   return text .. rule
end

function xlua.unpack(args, name, description, ...)
   local declared = {...}
   local usage = setmetatable({}, {__tostring = function()
      local example
      if #declared > 1 then
         local a, b = declared[1], declared[2]
         example = ('%s{%s=%s, %s=%s}\n%s(%s, ...)'):format(name, b.arg, b.type, a.arg, a.type, name, a.type)
      end
      return xlua.usage(name, description, example, {tabled = declared})
   end})
   local function refuse(message)
      if message then print(sys.COLORS.Red .. message .. sys.COLORS.none) end
      print(usage)
      xlua.error('error')
   end

   local given = {}
   if #args == 0 then refuse()
   elseif #args == 1 and type(args[1]) == 'table' and #args[1] == 0 and not torch.typename(args[1]) then
      given = args[1]
   else
      for i, argument in ipairs(declared) do given[argument.arg] = args[i] end
   end

   local values = {}
   for i, argument in ipairs(declared) do
      local value = given[argument.arg]
      if value == nil and argument.req then refuse('missing argument: ' .. argument.arg) end
      if value == nil then value = argument.default end
      if value == nil and argument.defaulta then value = values[argument.defaulta] end
      values[argument.arg], values[i] = value, value
   end
   values.usage = usage
   return values, unpack(values, 1, 64)
end
function xlua.unpack_class(object, args, name, description, ...)
   for key, value in pairs((xlua.unpack(args, name, description, ...))) do
      if type(key) ~= 'number' then object[key] = value end
   end
end

function xlua.usage_module(module, name, description)
   local c, rule = sys.COLORS, ('+'):rep(70)
   local text = c.magenta .. rule:sub(2) .. '\nPACKAGE:\n' .. name .. '\n' ..
      (description and '\nDESC:\n' .. description .. '\n' or '') .. rule .. c.none
   local mt = getmetatable(module) or {}
   setmetatable(module, mt)
   function mt.__tostring() return text end
   return text
end

function xlua.envparams(default)
   local words = {['true'] = true, True = true, ['false'] = false, False = false}
   local found = {}
   for name, value in pairs(default) do
      local given = os.getenv(name)
      found[name] = value
      if given then
         if type(value) == 'number' then given = assert(tonumber(given))
         elseif type(value) == 'boolean' and words[given] ~= nil then given = words[given] end
         found[name] = given
      end
   end
   return found
end

-- Tables and strings --------------------------------------------------------------------------------------

-- What is taken out comes first, what is left second.
function table.splice(t, start, length)
   start, length = start or 1, length or 1
   local left, taken = {}, {}
   for i, value in ipairs(t) do
      table.insert((i < start or i >= start + length) and left or taken, value)
   end
   return left, taken
end

function table.prune(t, hash, merge)
   hash = hash or function(value) return value end
   local by = {}
   for _, value in ipairs(t) do
      local key = hash(value)
      by[key] = merge and by[key] ~= nil and merge(value, by[key]) or value
   end
   local list = {}
   for _, value in pairs(by) do list[#list + 1] = value end
   return list
end

function string.split(text, pattern) return sys.split(text, pattern) end

function string.tosymbol(text)
   local ok, value = pcall(loadstring('return ' .. text))
   if not ok then error(value) end
   if not value then error('symbol "' .. text .. '" does not exist') end
   return value
end

return xlua
