-- pl.text
local text = {}
function text.indent(s, n, character)
   local space = (character or ' '):rep(n)
   return (s:gsub('[^\n]+', space .. '%0')) .. (s:find('\n$') and '' or '\n')
end
function text.dedent(s)
   local space = s:match('^%s*') or ''
   return (('\n' .. s):gsub('\n' .. space, '\n'):sub(2))
end
function text.wrap(s, width)
   width = width or 70
   local lines, line = {}, ''
   for word in s:gmatch('%S+') do
      if line ~= '' and #line + #word + 1 > width then
         lines[#lines + 1] = line
         line = word
      else line = line == '' and word or line .. ' ' .. word end
   end
   if line ~= '' then lines[#lines + 1] = line end
   return setmetatable(lines, require 'pl.List')
end
function text.fill(s, width) return table.concat(text.wrap(s, width), '\n') .. '\n' end
local Template = {}
Template.__index = Template
function text.Template(s) return setmetatable({s = s}, Template) end
local function substitute(self, values, strict)
   local function value(name)
      local found = type(values) == 'function' and values(name) or type(values) == 'table' and values[name]
      if found == nil and strict then error('not present in table ' .. name, 0) end
      return found ~= nil and tostring(found) or nil
   end
   return (self.s:gsub('%$([%w_]+)', value):gsub('%${([%w_]+)}', value))
end
function Template:substitute(values) return substitute(self, values, true) end
-- The lines of a value begin where its name stood.
function Template:indent_substitute(values)
   return (('\n' .. self.s):gsub('\n([ \t]*)%$(%b{})', '\n%1$%2'):gsub('\n([ \t]+)%${?([%w_]+)}?', function(space, name)
      local found = type(values) == 'function' and values(name) or values[name]
      return found ~= nil and '\n' .. space .. tostring(found):gsub('\n', '\n' .. space) or nil
   end):sub(2))
end
function Template:safe_substitute(values) return substitute(self, values, false) end
-- `'%s is %d' % {'x', 5}` and `'$name' % {name = …}`.
function text.format_operator()
   getmetatable('').__mod = function(a, b)
      if type(b) == 'table' and getmetatable(b) == nil then
         if #b == 0 and next(b) ~= nil then return text.Template(a):safe_substitute(b) end
         return a:format(unpack(b))
      end
      return a:format(b)
   end
end
return text
