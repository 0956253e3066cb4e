-- What the rules of a function say of its arguments, and what arguments were, in words.
local env = require 'argcheck.env'

local usage = {}

function usage.may_be_left_out(rule)
   return rule.opt or rule.default ~= nil or rule.defaulta ~= nil or rule.defaultf ~= nil
end

local function default_of(rule)
   if rule.defaulta then return ' [defaulta=' .. rule.defaulta .. ']' end
   if rule.defaultf then return ' [has default]' end
   if rule.default == nil then return '' end
   if type(rule.default) == 'table' or type(rule.default) == 'userdata' then return ' [has default value]' end
   return ' [default=' .. tostring(rule.default) .. ']'
end

local function in_a_line(rules)
   local names = {}
   for i, rule in ipairs(rules) do
      local name = (i > 1 and ', ' or '') .. rule.name
      names[i] = usage.may_be_left_out(rule) and '[' .. name .. ']' or name
   end
   return table.concat(names)
end

local function in_a_table(rules)
   local names, arguments, widest = 0, {}, 0
   for _, rule in ipairs(rules) do names = math.max(names, #rule.name) end
   for i, rule in ipairs(rules) do
      local text = rule.name .. (' '):rep(names - #rule.name) .. (rule.type and ' = ' .. rule.type or '')
      arguments[i] = usage.may_be_left_out(rule) and '[' .. text .. ']' or ' ' .. text .. ' '
      widest = math.max(widest, #arguments[i])
   end
   local lines = {'```', (rules.noordered and '' or '(') .. (rules.nonamed and '' or '{')}
   for i, rule in ipairs(rules) do
      lines[#lines + 1] = ('  %s%s  -- %s%s'):format(arguments[i], (' '):rep(widest - #arguments[i]),
         (rule.help or '') .. (rule.doc or ''), default_of(rule))
   end
   lines[#lines + 1] = (rules.nonamed and '' or '}') .. (rules.noordered and '' or ')')
   lines[#lines + 1] = '```'
   return table.concat(lines, '\n')
end

-- The text of a function, in which @ARGP and @ARGT stand for its arguments.
function usage.of(rules)
   local text = rules.help or rules.doc or '\n*Arguments:*\n@ARGT'
   text = text:gsub('@ARGP', function() return in_a_line(rules) end)
   return (text:gsub('@ARGT', function() return in_a_table(rules) end))
end

function usage.given(...)
   local kinds = {}
   for i = 1, select('#', ...) do kinds[i] = '**' .. env.type((select(i, ...))) .. '**' end
   return '*Got:* ' .. table.concat(kinds, ', ')
end

return usage
