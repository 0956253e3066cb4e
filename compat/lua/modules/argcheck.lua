-- Package argcheck: functions that take their arguments in order or by name, checked against rules.
require 'torch'

local env = {}
-- Whether a value is of a type; scripts may put another function here.
function env.istype(value, wanted)
   if wanted == '*' then return true end
   local kind = torch.typename(value) or type(value)
   if kind == wanted or type(value) == wanted and wanted ~= 'userdata' then return true end
   if wanted:find('*', 1, true) then
      return kind:find('^' .. wanted:gsub('[%.%-]', '%%%0'):gsub('%*', '.*') .. '$') ~= nil
   end
   return torch.typename(value) ~= nil and torch.isTypeOf(value, wanted)
end

local function fits(rule, value)
   return (not rule.type or env.istype(value, rule.type)) and (not rule.check or rule.check(value))
end

local function may_be_left_out(rule)
   return rule.opt or rule.default ~= nil or rule.defaulta or rule.defaultf
end

-- What each rule gets of the arguments in order; an optional one is passed over by what does not fit it.
local function in_order(rules, i, found, n, first, ...)
   local rule = rules[i]
   if not rule then return n == 0 and found end
   if n > 0 and not rule.named and fits(rule, first) then
      found[rule.name] = first
      local done = in_order(rules, i + 1, found, n - 1, ...)
      if done then return done end
      found[rule.name] = nil
   end
   if may_be_left_out(rule) then
      if n > 0 and first == nil then return in_order(rules, i + 1, found, n - 1, ...) end
      return in_order(rules, i + 1, found, n, first, ...)
   end
end

local function by_name(rules, given)
   local found, known = {}, {}
   for _, rule in ipairs(rules) do
      local value = given[rule.name]
      known[rule.name] = true
      if value == nil then
         if not may_be_left_out(rule) then return nil end
      elseif not fits(rule, value) then return nil end
      found[rule.name] = value
   end
   for name in pairs(given) do if not known[name] then return nil end end
   return found
end

local function usage(rules)
   local lines = {rules.help or 'arguments:', ''}
   for _, rule in ipairs(rules) do
      local left_out = may_be_left_out(rule)
      lines[#lines + 1] = string.format('  %s%s%s = %s%s', left_out and '[' or '', rule.name, left_out and ']' or '',
         rule.type or 'any', rule.help and '  -- ' .. rule.help or '')
   end
   return table.concat(lines, '\n')
end

local function argcheck(rules)
   for i, rule in ipairs(rules) do
      if type(rule.name) ~= 'string' then error(string.format('rule %d has no name', i), 2) end
   end
   local function take(...)
      local given = select('#', ...) == 1 and (...)
      local found = not rules.noordered and in_order(rules, 1, {}, select('#', ...), ...)
      if not found and not rules.nonamed and type(given) == 'table' and not torch.typename(given) then
         found = by_name(rules, given)
      end
      if not found then return nil end
      for _, rule in ipairs(rules) do
         if found[rule.name] == nil then
            if rule.default ~= nil then found[rule.name] = rule.default
            elseif rule.defaultf then found[rule.name] = rule.defaultf()
            elseif rule.defaulta then found[rule.name] = found[rule.defaulta] end
         end
      end
      return found
   end
   local function deliver(found)
      if rules.pack then return found end
      local values = {}
      for i, rule in ipairs(rules) do values[i] = found[rule.name] end
      return unpack(values, 1, #rules)
   end
   return function(...)
      local found = take(...)
      if not found then
         if rules.overload then return rules.overload(...) end
         if rules.quiet then return false, usage(rules) end
         error('invalid arguments!\n' .. usage(rules), 2)
      end
      if rules.call then return rules.call(deliver(found)) end
      if rules.quiet then return true, deliver(found) end
      return deliver(found)
   end
end

package.loaded['argcheck.env'] = env
return argcheck
