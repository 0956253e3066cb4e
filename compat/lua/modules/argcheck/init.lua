-- Package argcheck: functions that take their arguments in order or by name, checked against rules, and that may have
-- several sets of rules.
local env, doc, usage = require 'argcheck.env', require 'argcheck.doc', require 'argcheck.usage'
local may_be_left_out = usage.may_be_left_out

local function fits(rule, value)
   return (not rule.type or env.istype(value, rule.type)) and (not rule.check or rule.check(value))
end

-- What each rule gets of the arguments in order; an optional one is passed over by what does not fit it.
local function in_order(rules, i, found, n, first, ...)
   local rule = rules[i]
   if not rule then return n == 0 and found end
   if n > 0 and fits(rule, first) then
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

local function by_name(rules, i, found, given)
   local count = 0
   for j = i, #rules do
      local rule = rules[j]
      local value = given[rule.name]
      if value ~= nil then
         if not fits(rule, value) then return nil end
         count = count + 1
      elseif not may_be_left_out(rule) then return nil end
      found[rule.name] = value
   end
   for _ in pairs(given) do count = count - 1 end
   return count == 0 and found
end

local function is_method(rules) return rules[1] and rules[1].name == 'self' end

local function take(rules, n, ...)
   local found = not rules.noordered and in_order(rules, 1, {}, n, ...)
   if found or rules.nonamed then return found end
   local self, given = ...
   if not is_method(rules) then
      return n == 1 and env.istype(self, 'table') and by_name(rules, 1, {}, self)
   end
   return n == 2 and fits(rules[1], self) and env.istype(given, 'table') and by_name(rules, 2, {self = self}, given)
end

local function deliver(rules, found)
   for _, rule in ipairs(rules) do
      if found[rule.name] == nil then
         if rule.default ~= nil then found[rule.name] = rule.default
         elseif rule.defaultf then found[rule.name] = rule.defaultf()
         elseif rule.defaulta then found[rule.name] = found[rule.defaulta] end
      end
   end
   if rules.pack then return found end
   local values = {}
   for i, rule in ipairs(rules) do values[i] = found[rule.name] end
   return unpack(values, 1, #rules)
end

-- All orders of types that rules take, as the keys of a table.
local function orders(rules)
   local all = {[''] = true}
   for _, rule in ipairs(rules) do
      local longer, one = {}, (rule.type or '*') .. (rule.check and tostring(rule.check) or '') .. ','
      for order in pairs(all) do
         longer[order .. one] = true
         if may_be_left_out(rule) then longer[order] = true end
      end
      all = longer
   end
   return all
end

local function refuse_ambiguous(rules, others)
   if rules.noordered then return end
   local ours = orders(rules)
   for _, other in ipairs(others) do
      if not other.noordered then
         for order in pairs(orders(other)) do
            if ours[order] then error('argcheck rules led to ambiguous situations', 3) end
         end
      end
   end
end

local OPTIONAL_FIELDS = {type = 'string', help = 'string', doc = 'string', defaulta = 'string', check = 'function',
                         defaultf = 'function'}
local function check_rules(rules)
   if rules.noordered and rules.nonamed then error('rules must be at least ordered or named', 3) end
   for i, rule in ipairs(rules) do
      if type(rule.name) ~= 'string' then error(('rule %d has no name'):format(i), 3) end
      for field, kind in pairs(OPTIONAL_FIELDS) do
         if rule[field] ~= nil and type(rule[field]) ~= kind then
            error(('rule %s must be a %s or nil'):format(field, kind), 3)
         end
      end
   end
   if is_method(rules) and may_be_left_out(rules[1]) then
      error('self cannot be optional, nor having a default value!', 3)
   end
end

local function passed(...) return ... end

-- Calls what belongs to the first of the sets that the arguments fit.
function env.call(sets, quiet, ...)
   local n = select('#', ...)
   for i = 1, #sets do
      local set = sets[i]
      local found = take(set, n, ...)
      if found then
         if not set.quiet then return (set.call or passed)(deliver(set, found)) end
         -- Who asks quietly calls for himself.
         return set.call or true, deliver(set, found)
      end
   end
   local texts = {}
   for i, set in ipairs(sets) do texts[i] = usage.of(set) end
   local text = table.concat(texts, '\n\nor\n\n') .. '\n' .. usage.given(...)
   if quiet then return false, text end
   error(text .. '\ninvalid arguments!', 2)
end

local sets_of = setmetatable({}, {__mode = 'k'}) -- the sets of rules of each function made here

local function argcheck(rules)
   check_rules(rules)
   if rules.doc or rules.help then doc(usage.of(rules)) end
   local sets, before = {}, rules.overload or rules.chain
   if before then
      if not sets_of[before] then error('trying to overload a non-argcheck function', 2) end
      for i, set in ipairs(sets_of[before]) do sets[i] = set end
      if not rules.force then refuse_ambiguous(rules, sets) end
   end
   -- Where `force` lets two sets take the same arguments, the newer one gets them.
   table.insert(sets, rules.force and 1 or #sets + 1, rules)

   -- Its upvalues hold nothing of this package, so that it can be saved with a net that has it.
   local function checked(...) return require('argcheck.env').call(sets, rules.quiet, ...) end
   sets_of[checked] = sets
   return checked
end

env.argcheck = argcheck
return argcheck
