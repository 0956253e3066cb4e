-- pl.stringx
local utils = require 'pl.utils'
local text_functions = require 'pl.text'
local stringx = {}
local function list(items) return setmetatable(items, require 'pl.List') end
local function check(text) return utils.assert_arg(1, text, 'string', nil, nil, 4) end

local function all(class) return function(text) return check(text):find('^' .. class .. '+$') == 1 end end
stringx.isalpha, stringx.isdigit, stringx.isalnum = all('%a'), all('%d'), all('%w')
stringx.isspace, stringx.islower, stringx.isupper = all('%s'), all('[%l%s]'), all('[%u%s]')

local function any(test)
   return function(text, what)
      check(text)
      if type(what) ~= 'table' then return test(text, what) end
      for _, one in ipairs(what) do if test(text, one) then return true end end
      return false
   end
end
stringx.startswith = any(function(text, start) return text:sub(1, #start) == start end)
stringx.endswith = any(function(text, tail) return #text >= #tail and text:sub(-#tail) == tail or tail == '' end)

function stringx.join(separator, items) return table.concat(items, separator) end
function stringx.splitlines(text, keep_ends)
   local lines = {}
   local from = 1
   check(text)
   while from <= #text do
      local last, after = text:match('()\r?\n()', from)
      last, after = last or #text + 1, after or #text + 1
      lines[#lines + 1] = text:sub(from, (keep_ends and after or last) - 1)
      from = after
   end
   return list(lines)
end
function stringx.split(text, separator, n)
   check(text)
   local plain = separator ~= nil and separator ~= ''
   text = plain and text or text:gsub('^%s+', '')
   local parts = utils.split(text, plain and separator or nil, plain, n)
   -- Between separators there may be nothing, at the end too.
   if plain and text:sub(-#separator) == separator and #parts ~= n then
      parts[#parts + 1] = ''
   end
   return list(parts)
end
function stringx.splitv(text, pattern) return utils.splitv(text, pattern) end
function stringx.expandtabs(text, width)
   width = width or 8
   return (check(text):gsub('([^\t\r\n]*)\t', function(before) return before .. (' '):rep(width - #before % width) end))
end

function stringx.lfind(text, what, first, last)
   local found, finish = check(text):find(what, first, true)
   if found and (not last or finish <= last) then return found end
   return nil
end
function stringx.rfind(text, what, first, last)
   local from, found = first or 1, nil
   while true do
      local start, finish = check(text):find(what, from, true)
      if not start or last and finish > last then return found end
      found, from = start, start + 1
   end
end
function stringx.replace(text, old, new, n)
   local pattern = old:gsub('%p', '%%%0')
   return (check(text):gsub(pattern, (new:gsub('%%', '%%%%')), n))
end
function stringx.count(text, what)
   local n, from = 0, 1
   while true do
      local first, last = check(text):find(what, from, true)
      if not first then return n end
      n, from = n + 1, last + 1
   end
end

local function padded(left, right)
   return function(text, width, fill)
      local missing = utils.assert_arg(2, width, 'number', nil, nil, 3) - #check(text)
      if missing <= 0 then return text end
      fill = fill or ' '
      local before = left and right and math.floor(missing / 2) or left and missing or 0
      return fill:rep(before) .. text .. fill:rep(missing - before)
   end
end
stringx.ljust, stringx.rjust, stringx.center = padded(false, true), padded(true, false), padded(true, true)
local function stripped(left, right)
   return function(text, characters)
      local class = characters and '[' .. characters:gsub('%p', '%%%0') .. ']' or '%s'
      text = check(text)
      if left then text = text:gsub('^' .. class .. '+', '') end
      if right then
         local last = #text
         while last > 0 and text:sub(last, last):find(class) do last = last - 1 end
         text = text:sub(1, last)
      end
      return text
   end
end
stringx.lstrip, stringx.rstrip, stringx.strip = stripped(true, false), stripped(false, true), stripped(true, true)

local function partition(find)
   return function(text, separator)
      local place = find(check(text), separator)
      if not place then return text, '', '' end
      return text:sub(1, place - 1), separator, text:sub(place + #separator)
   end
end
stringx.partition = partition(stringx.lfind)
local rpartition = partition(stringx.rfind)
function stringx.rpartition(text, separator)
   local before, found, after = rpartition(text, separator)
   if found == '' then return '', '', before end
   return before, found, after
end
function stringx.at(text, i) return check(text):sub(i, i) end
function stringx.lines(text) return (check(text):find('\n$') and text or text .. '\n'):gmatch('([^\n]*)\n') end
function stringx.title(text)
   return (check(text):gsub('(%S)(%S*)', function(first, rest) return first:upper() .. rest:lower() end))
end
stringx.capitalize = stringx.title
function stringx.shorten(text, width, tail)
   if #check(text) <= width then return text end
   if width < 3 then return ('...'):sub(1, width) end
   return tail and '...' .. text:sub(-(width - 3)) or text:sub(1, width - 3) .. '...'
end
function stringx.quote_string(text) return ('%q'):format(text) end
for _, name in ipairs{'indent', 'dedent', 'wrap', 'fill', 'Template', 'format_operator'} do stringx[name] = text_functions[name] end
function stringx.import(target)
   utils.import(stringx, target or string)
end
return stringx
