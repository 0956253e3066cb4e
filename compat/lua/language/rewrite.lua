-- Lua 5.2's syntax and operators for a compiler of 5.1: one pass over the tokens of a chunk, which collects edits.
-- What it changes, and how:
--   #x             #((1i)(x) or x)         the call gives x, something whose length is what __len says, or nothing where
--                                          the operator is to fail: then it does so at x, and names it
--   #f(x)          #(1i)(f(x),1)           where x cannot be written twice; no error there has a name
--   a < b          (not not (1i)(a,2,b))   only where a program has mentioned __lt or __le
--   f ↵ (x)        ((f) ↵ )(x)             a call's parenthesis on the next line
--   a:f ↵ (x)      a: ↵ f(x)
--   break          do break end            where more follows in the block
--   ;              nothing                 an empty statement
-- (1i) is a complex number, whose metatable is ours (operators.lua): it costs no global or local name, the JIT compiler
-- sees through the call, and bytecode that has it means the same in every state of ours. Lua 5.1 has no such
-- constants: there the operator ^ of true and false serves. Lines stay where they are.
local jit = ...
local byte, sub, find, concat, sort = string.byte, string.sub, string.find, table.concat, table.sort

local OPEN, OR, CLOSE = '((1i)(', ') or ', ')'
local OPEN_ONCE, CLOSE_ONCE = '(1i)(', ',1)'
if not jit then
   OPEN, OPEN_ONCE, CLOSE_ONCE = '(true^(', '(false^(', '))'
end
local COMPARISONS = {['<'] = ',2,', ['<='] = ',3,', ['>'] = ',4,', ['>='] = ',5,'}

-- What a byte begins.
local SPACE, NAME, DIGIT, QUOTE, OTHER = 1, 2, 3, 4, 5
local class = {}
for b = 0, 255 do class[b] = b >= 128 and NAME or OTHER end
for b in (' \t\r\n\v\f'):gmatch('.') do class[byte(b)] = SPACE end
for b in ('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_'):gmatch('.') do class[byte(b)] = NAME end
for b in ('0123456789'):gmatch('.') do class[byte(b)] = DIGIT end
class[34], class[39] = QUOTE, QUOTE

local function set(words)
   local s = {}
   for word in words:gmatch('%S+') do s[word] = true end
   return s
end
local KEYWORD = set[[and break do else elseif end false for function goto if in local nil not or repeat return then
   true until while]]
local LITERAL = set'string number { nil true false function'
local VALUE = set'number nil true false ...'
-- What may follow the operand of # or of a comparison and belong to it.
local SUFFIX = set'. : ( [ { string'
local TIGHTER = set'.. + - * / % ^'
-- After these an operand of a comparison begins.
local BEGINS = set', = ; and or return if while until elseif in ( [ {'
local OPENER = set'( [ { do if repeat function'
local CLOSER = set') ] } end until'
local BLOCK_END = set'end else elseif until'
local BEGINS_BLOCK = set'do then else repeat'
-- What may be written, and run, twice.
local REPEATABLE = set'name number . [ ] ( ) .. + - * / % ^ and or not nil true false == ~='

-- The end of the long bracket that begins at i, or nil.
local function long_bracket(text, i)
   local _, e, level = find(text, '^%[(=*)%[', i)
   if not e then return nil end
   local _, last = find(text, ']' .. level .. ']', e + 1, true)
   return last or #text
end

-- Where the token after i begins, and whether there was a new line before.
local function skip(text, i)
   local newline = false
   while true do
      local b = byte(text, i)
      if b == 10 then
         newline = true
         i = i + 1
      elseif b and class[b] == SPACE then
         i = i + 1
      elseif b == 45 and byte(text, i + 1) == 45 then
         local last = byte(text, i + 2) == 91 and long_bracket(text, i + 2)
         if last then
            newline = newline or find(sub(text, i, last), '\n', 1, true) ~= nil
            i = last + 1
         else
            i = find(text, '\n', i, true) or #text + 1
         end
      else
         return i, newline
      end
   end
end

local function end_of_string(text, i, quote)
   while true do
      i = i + 1
      local b = byte(text, i)
      if b == 92 then i = i + 1
      elseif b == quote or not b then return i end
   end
end

local function end_of_number(text, i)
   local b = byte(text, i + 1)
   local hexadecimal = byte(text, i) == 48 and (b == 120 or b == 88)
   while true do
      local before = b
      b = byte(text, i + 1)
      if not b then return i end
      local kind = class[b]
      local sign = (b == 43 or b == 45) and
         (hexadecimal and (before == 112 or before == 80) or not hexadecimal and (before == 101 or before == 69))
      if not (kind == DIGIT or kind == NAME or b == 46 or sign) then return i end
      i = i + 1
   end
end

-- The token at i: what it is (its text, or its kind), and its end.
local function token(text, i)
   local b = byte(text, i)
   if not b then return nil, i end
   local kind = class[b]
   if kind == NAME then
      local e = i
      repeat
         e = e + 1
         kind = class[byte(text, e)]
      until kind ~= NAME and kind ~= DIGIT
      if e - i <= 8 then
         local word = sub(text, i, e - 1)
         if KEYWORD[word] then return word, e - 1 end
      end
      return 'name', e - 1
   elseif kind == DIGIT then
      return 'number', end_of_number(text, i)
   elseif kind == QUOTE then
      return 'string', end_of_string(text, i, b)
   end
   local following = byte(text, i + 1)
   if b == 46 then
      if class[following] == DIGIT then return 'number', end_of_number(text, i) end
      if following ~= 46 then return '.', i end
      if byte(text, i + 2) ~= 46 then return '..', i + 1 end
      return '...', i + 2
   elseif b == 91 and (following == 91 or following == 61) then
      local last = long_bracket(text, i)
      if last then return 'string', last end
   elseif following == 61 and (b == 60 or b == 61 or b == 62 or b == 126) or b == 58 and following == 58 then
      return sub(text, i, i + 1), i + 1
   end
   return sub(text, i, i), i
end

local function apply(text, before, gone)
   local places = {}
   for place in pairs(before) do places[#places + 1] = place end
   for place in pairs(gone) do
      if not before[place] then places[#places + 1] = place end
   end
   if not places[1] then return text end
   sort(places)
   local parts, from = {}, 1
   for _, place in ipairs(places) do
      parts[#parts + 1] = sub(text, from, place - 1)
      parts[#parts + 1] = before[place]
      from = (gone[place] or place - 1) + 1
   end
   parts[#parts + 1] = sub(text, from)
   return concat(parts)
end

-- The text for the compiler: the same one where nothing differs. With `ordered`, comparisons are changed, too.
return function(text, ordered)
   local i = 1
   if sub(text, 1, 3) == '\239\187\191' then i = 4 end
   if byte(text, i) == 35 then i = find(text, '\n', i, true) or #text + 1 end

   -- Edits: what is inserted before a byte, and the last of those that go from one on.
   local before, gone = {}, {}
   -- Brackets and blocks that are open: what opened them, whether a suffix may follow, where an operand began.
   local depth, openers, suffixes, starts, heads, parentheses = 0, {}, {}, {}, {}, {}
   -- Operators whose operand has not ended: where to insert, how deep, and of comparisons the operator's place.
   local marks, places, depths, operators, ends = 0, {}, {}, {}, {}
   local copy = false -- the tokens of the operand of the innermost #, while they may be written twice
   -- Of the token before: its end, whether it completes an operand, may have suffixes, or leaves a statement to begin.
   local last, from, to, done, suffix, statement = nil, 0, 0, false, false, true
   local heading, declaring, label, break_at, returned = false, false, false, nil, nil
   local start, fresh = 1, true
   -- Where the expression before a suffix began, and what opens a parenthesis there.
   local head, parenthesis, method = 1, '((', false

   while true do
      local s, newline = skip(text, i)
      local tok, e = token(text, s)

      if break_at and tok ~= ';' then
         if tok and not BLOCK_END[tok] then
            before[break_at] = 'do '
            before[break_at + 5] = ' end' .. (before[break_at + 5] or '')
         end
         break_at = nil
      end

      -- Operands that end here.
      while marks > 0 do
         local operator = operators[marks]
         if depths[marks] < depth or depths[marks] == depth and (not done or suffix and SUFFIX[tok] or tok == '^'
            or operator and TIGHTER[tok]) then break end
         if depths[marks] == depth then
            local opening, closing = OPEN_ONCE, CLOSE_ONCE
            if operator then
               opening, closing = '(not not (1i)(', '))'
               before[operator], gone[operator] = (before[operator] or '') .. COMPARISONS[sub(text, operator, ends[marks])], ends[marks]
            elseif copy then
               opening, closing = OPEN, OR .. copy .. CLOSE
            end
            before[places[marks]] = opening .. (before[places[marks]] or '')
            before[to + 1] = (before[to + 1] or '') .. closing
         end
         marks, copy = marks - 1, false
      end
      if not tok then return apply(text, before, gone) end
      if last == '#' and LITERAL[tok] then marks, copy = marks - 1, false end
      if copy then
         if REPEATABLE[tok] and not (tok == '(' and suffix) then
            copy = copy == '' and sub(text, s, e) or copy .. ' ' .. sub(text, s, e)
         elseif tok == 'string' and not suffix and not find(sub(text, s, e), '\n', 1, true) then
            copy = copy .. ' ' .. sub(text, s, e)
         else
            copy = false
         end
      end
      if fresh then start, fresh = s, false end

      if tok == 'name' and last ~= '.' and last ~= ':' or tok == '(' and not suffix then
         head, parenthesis = s, done and ';((' or '(('
      end

      local begins = false
      if tok == 'name' then
         method = last == ':'
         if declaring and last ~= 'local' and last ~= ',' then declaring = false end
         done, suffix = true, not (heading or declaring or label or last == 'goto')
      elseif tok == 'string' then
         done = true
      elseif VALUE[tok] then
         done, suffix = true, false
      elseif OPENER[tok] then
         if tok == '(' and suffix and newline then
            if last == 'name' and method then
               gone[from] = to
               before[s] = sub(text, from, to)
            else
               before[head] = (before[head] or '') .. parenthesis
               before[to + 1] = (before[to + 1] or '') .. ')'
               before[s] = (before[s] or '') .. ')'
               parenthesis = '(('
            end
         end
         depth = depth + 1
         openers[depth] = tok == '(' and heading and 'parameters' or tok
         suffixes[depth], starts[depth], heads[depth], parentheses[depth] = suffix, start, head, parenthesis
         heading = tok == 'function'
         done, suffix, declaring = false, false, false
         begins = tok == 'do' or tok == 'repeat'
      elseif CLOSER[tok] then
         local opener = openers[depth]
         if depth > 0 then
            suffix, start, head, parenthesis = suffixes[depth], starts[depth], heads[depth], parentheses[depth]
            depth = depth - 1
         end
         if tok == ')' or tok == ']' then suffix = opener ~= 'parameters'
         elseif tok ~= '}' then suffix = false end
         done = tok ~= 'until' and opener ~= 'parameters'
         begins = opener == 'parameters'
         declaring = false
      elseif tok == ';' then
         if openers[depth] ~= '{' then
            if statement and returned ~= depth then
               gone[s] = s
               before[s] = (before[s] or '') .. ' '
            end
            begins = true
         end
         done, suffix, declaring = false, false, false
      else
         if tok == '#' then
            marks = marks + 1
            places[marks], depths[marks], operators[marks] = e + 1, depth, nil
            copy = ''
         elseif ordered and done and jit and COMPARISONS[tok] then
            marks = marks + 1
            places[marks], depths[marks], operators[marks], ends[marks] = start, depth, s, e
            copy = false
         elseif tok == '::' then
            label = not label
            begins = not label
         elseif tok == 'break' then
            break_at = s
         elseif tok == 'return' then
            returned = depth
         elseif tok == 'local' then
            declaring = true
         elseif tok ~= ',' then
            declaring = false
            begins = BEGINS_BLOCK[tok]
         end
         done, suffix = false, false
      end
      if BEGINS[tok] then fresh = true end
      if begins and tok ~= ';' then returned = nil end
      statement, last, from, to = begins, tok, s, e
      i = e + 1
   end
end
