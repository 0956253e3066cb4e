-- pl.utils
local utils = {_VERSION = '1.3.3'}
for name, value in pairs(require 'pl.compat') do utils[name] = value end
utils.pack = table.pack
utils.unpack = function(t, i, j) return unpack(t, i or 1, j or t.n or #t) end

function utils.printf(text, ...) io.write(text:format(...)) end
function utils.fprintf(file, text, ...) file:write(text:format(...)) end
function utils.escape(text) return (text:gsub('[%-%.%+%[%]%(%)%$%^%%%?%*]', '%%%1')) end

function utils.split(text, pattern, plain, n)
   local parts, from = {}, 1
   pattern = pattern or '%s+'
   if pattern == '' then return {text} end
   while true do
      local first, last = text:find(pattern, from, plain)
      if not first or (n and #parts == n - 1) then
         local rest = text:sub(from)
         if rest ~= '' then parts[#parts + 1] = rest end
         if #parts == 1 and parts[1] == '' then return {} end
         return parts
      end
      parts[#parts + 1] = text:sub(from, first - 1)
      from = last + 1
   end
end
function utils.splitv(text, pattern) return unpack(utils.split(text, pattern)) end

function utils.readfile(name, binary)
   local file, message = io.open(name, binary and 'rb' or 'r')
   if not file then return nil, message end
   local text = file:read('*a')
   file:close()
   return text
end
function utils.writefile(name, text, binary)
   local file, message = io.open(name, binary and 'wb' or 'w')
   if not file then return nil, message end
   file:write(text)
   file:close()
   return true
end
function utils.readlines(name)
   local file, message = io.open(name)
   if not file then return nil, message end
   local lines = {}
   for line in file:lines() do lines[#lines + 1] = line end
   file:close()
   return lines
end

function utils.executeex(command)
   local out, err = os.tmpname(), os.tmpname()
   local ok, code = utils.execute(command .. ' > ' .. out .. ' 2> ' .. err)
   local text, complaint = utils.readfile(out), utils.readfile(err)
   os.remove(out)
   os.remove(err)
   return ok, code, text, complaint
end
function utils.quit(code, message, ...)
   if type(code) == 'string' then code, message = -1, code:format(message, ...)
   elseif message then message = message:format(...) end
   if message then io.stderr:write(message, '\n') end
   os.exit(code or 0)
end
function utils.choose(condition, yes, no) if condition then return yes end return no end
function utils.is_callable(f)
   return type(f) == 'function' or getmetatable(f) ~= nil and type(getmetatable(f)) == 'table' and getmetatable(f).__call ~= nil
end
function utils.is_type(value, kind)
   if type(kind) == 'string' then return type(value) == kind end
   return getmetatable(value) == kind
end
local lambdas = {}
function utils.string_lambda(text)
   if lambdas[text] then return lambdas[text] end
   local parameters, body = text:match('^|([^|]*)|(.+)$')
   if not body then parameters, body = '_', text end
   if not (text:find('^|') or text:find('_')) then return nil, 'not a string lambda' end
   local f, message = loadstring('return function(' .. parameters .. ') return ' .. body .. ' end')
   if not f then return nil, message end
   lambdas[text] = f()
   return lambdas[text]
end
local OPERATORS = {
   ['+'] = function(a, b) return a + b end, ['-'] = function(a, b) return a - b end,
   ['*'] = function(a, b) return a * b end, ['/'] = function(a, b) return a / b end,
   ['%'] = function(a, b) return a % b end, ['^'] = function(a, b) return a ^ b end,
   ['..'] = function(a, b) return a .. b end, ['=='] = function(a, b) return a == b end,
   ['~='] = function(a, b) return a ~= b end, ['<'] = function(a, b) return a < b end,
   ['<='] = function(a, b) return a <= b end, ['>'] = function(a, b) return a > b end,
   ['>='] = function(a, b) return a >= b end, ['#'] = function(a) return #a end,
   ['and'] = function(a, b) return a and b end, ['or'] = function(a, b) return a or b end,
   ['[]'] = function(t, k) return t[k] end, ['{}'] = function(...) return {...} end,
}
utils.operators = OPERATORS
-- Functions that make one of an object with that metatable.
local factories = {}
function utils.add_function_factory(mt, factory) factories[mt] = factory end

-- What may stand for a function: a name of an operator, '|x| x+1', anything callable.
function utils.function_arg(n, f, message)
   local factory = factories[getmetatable(f)]
   if factory then
      local found = factory(f)
      if found then return found end
   end
   if type(f) == 'string' then
      local found = OPERATORS[f] or utils.string_lambda(f)
      if found then return found end
   elseif utils.is_callable(f) then return f end
   error(('argument %d: %s must be callable'):format(n, message or ''), 3)
end
function utils.bind1(f, value)
   f = utils.function_arg(1, f)
   return function(...) return f(value, ...) end
end
function utils.bind2(f, value)
   f = utils.function_arg(1, f)
   return function(first, ...) return f(first, value, ...) end
end
function utils.assert_arg(n, value, kind, verify, message, level)
   if type(value) ~= kind then
      error(("argument %d expected a '%s', got a '%s'"):format(n, kind, type(value)), level or 2)
   end
   if verify and not verify(value) then
      error(("argument %d: '%s' %s"):format(n, value, message or ''), level or 2)
   end
   return value
end
function utils.assert_string(n, value) return utils.assert_arg(n, value, 'string', nil, nil, 3) end
-- How functions fail that give nil and a message: 'default', 'error', or 'quit' the program.
local failing = 'default'
function utils.on_error(mode)
   if not ({default = true, error = true, quit = true})[mode] then
      error("Bad argument expected string; 'default', 'quit', or 'error'. Got '" .. tostring(mode) .. "'", 2)
   end
   failing = mode
end
function utils.raise(message)
   if failing == 'error' then error(message, 2) end
   if failing == 'quit' then utils.quit(message) end
   return nil, message
end
function utils.memoize(f)
   local known = {}
   return function(key)
      if known[key] == nil then known[key] = f(key) end
      return known[key]
   end
end
function utils.array_tostring(t, target, f)
   target = target or {}
   for i = 1, #t do target[i] = (f or tostring)(t[i]) end
   return target
end
function utils.quote_arg(argument)
   if type(argument) == 'table' then
      local quoted = {}
      for i, one in ipairs(argument) do quoted[i] = utils.quote_arg(one) end
      return table.concat(quoted, ' ')
   end
   if argument ~= '' and not argument:find('[^%w_@%+=:,./-]') then return argument end
   return "'" .. argument:gsub("'", "'\\''") .. "'"
end

-- What modules of a newer installation call, which are found besides ours.
function utils.npairs(t, first, last, step)
   step = step or 1
   if step == 0 then error('iterator step-size cannot be 0', 2) end
   local i = (first or 1) - step
   last = last or t.n or #t
   return function()
      i = i + step
      if (last - i) * step >= 0 then return i, t[i] end
   end
end
function utils.kpairs(t)
   local key, value
   return function()
      repeat key, value = next(t, key) until type(key) ~= 'number' or key % 1 ~= 0
      return key, value
   end
end
local tell_deprecated = function() end
function utils.set_deprecation_func(f) tell_deprecated = f or function() end end
function utils.raise_deprecation(about)
   if type(about.message) ~= 'string' then error("field 'message' of the options table must be a string", 2) end
   local since = about.deprecated_after and 'deprecated after ' .. about.deprecated_after
   local gone = about.version_removed and 'scheduled for removal in ' .. about.version_removed
   local when = since and gone and since .. ', ' .. gone or since or gone
   local text = about.message .. (when and ' (' .. when .. ')' or '')
   if about.source then text = '[' .. about.source .. '] ' .. text end
   tell_deprecated(text, not about.no_trace and debug.traceback('', 2):match('[\n%s]*(.-)$') or nil)
end

utils.patterns = {FLOAT = '[%+%-%d]%d*%.?%d*[eE]?[%+%-]?%d*', INTEGER = '[+%-%d]%d*', IDEN = '[%a_][%w_]*', FILE = '[%a%.\\][:%][%w%._%-\\]*'}
utils.stdmt = {List = {_name = 'List'}, Map = {_name = 'Map'}, Set = {_name = 'Set'}, MultiMap = {_name = 'MultiMap'}}
function utils.import(t, target)
   target = target or _G
   t = type(t) == 'string' and require(t) or t or utils
   for key, value in pairs(t) do target[key] = value end
end
return utils
