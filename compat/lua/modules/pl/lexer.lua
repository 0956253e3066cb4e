-- Penlight's pl.lexer: texts as tokens, each a kind and a value.
local lexer = {}
local states = setmetatable({}, {__mode = 'k'})   -- of the functions that give tokens

local function set(text)
   local found = {}
   for word in text:gmatch('%S+') do found[word] = true end
   return found
end
local LUA_WORDS = set[[and break do else elseif end false for function if in local nil not or repeat return then true
   until while]]
local C_WORDS = set[[class break do sizeof else continue struct false for public void private protected goto if static const
   typedef enum char int bool long float true delete double while new namespace virtual switch case return default unsigned
   signed union short]]
local SPACE, NAME, HEX = '^%s+', '^[%a_][%w_]*', '^0x%x+'
local FLOAT, WHOLE = '^%d+%.?%d*[eE][%+%-]?%d+', '^%d+%.?%d*'
local SIGNED_FLOAT, SIGNED_WHOLE = '^[%+%-]?%d+%.?%d*[eE][%+%-]?%d+', '^[%+%-]?%d+%.?%d*'

-- Actions: from what was matched to a kind and a value.
local function kind(name) return function(text) return name, text end end
local function itself(text) return text, text end
local function number(text, options)
   return 'number', options.number and tonumber(text) or text
end
local function quoted(name, before, after)
   return function(text, options)
      return name, options.string and text:sub(1 + before, -1 - (after or before)) or text
   end
end
local function long_string(text, options)
   if not options.string then return 'string', text end
   local level = #text:match('^%[=*%[')
   local inner = text:sub(level + 1, -level - 1)
   return 'string', (inner:gsub('^\n', ''))
end
local function word(words)
   return function(text) return words[text] and 'keyword' or 'iden', text end
end

-- Matchers that a pattern cannot be: they return what lies at a place, or nil.
local function string_in(quote)
   return function(text, at)
      if text:sub(at, at) ~= quote then return end
      local place = at + 1
      while place <= #text do
         local c = text:sub(place, place)
         if c == quote then return text:sub(at, place) end
         if c == '\n' then return end
         place = place + (c == '\\' and 2 or 1)
      end
   end
end
local function bracketed(opening)
   return function(text, at)
      local _, last, level = text:find('^' .. opening .. '%[(=*)%[', at)
      if not level then return end
      local _, stop = text:find(']' .. level .. ']', last + 1, true)
      return stop and text:sub(at, stop)
   end
end
local SINGLE, DOUBLE = string_in("'"), string_in('"')

local PLAIN = {{SPACE, kind 'space'}, {HEX, number}, {NAME, kind 'iden'}, {SIGNED_FLOAT, number}, {SIGNED_WHOLE, number},
               {SINGLE, quoted('string', 1)}, {DOUBLE, quoted('string', 1)}, {'^.', itself}}
local LUA = {{SPACE, kind 'space'}, {HEX, number}, {NAME, word(LUA_WORDS)}, {FLOAT, number}, {WHOLE, number},
             {SINGLE, quoted('string', 1)}, {DOUBLE, quoted('string', 1)}, {bracketed '%-%-', kind 'comment'},
             {'^%-%-[^\n]*\n?', kind 'comment'}, {bracketed '', long_string}, {'^==', itself}, {'^~=', itself},
             {'^<=', itself}, {'^>=', itself}, {'^%.%.%.', itself}, {'^%.%.', itself}, {'^.', itself}}
local CPP = {{SPACE, kind 'space'}, {'^#[^\n]*', kind 'prepro'}, {HEX, number}, {NAME, word(C_WORDS)}, {FLOAT, number},
             {WHOLE, number}, {SINGLE, quoted('char', 1)}, {DOUBLE, quoted('string', 1)},
             {'^//[^\n]*\n?', kind 'comment'}, {'^/%*.-%*/', kind 'comment'}}
for operator in ('== != <= >= -> && || ++ -- += -= *= /= |= %= ^= ::'):gmatch('%S+') do
   CPP[#CPP + 1] = {'^' .. operator:gsub('%p', '%%%0'), itself}
end
CPP[#CPP + 1] = {'^.', itself}

-- The token at the start of what is left, which is taken away.
local function take(state)
   while state.at <= #state.text do
      local text, at = state.text, state.at
      for _, match in ipairs(state.matches) do
         local pattern, action = match[1], match[2]
         local found
         if type(pattern) == 'function' then found = pattern(text, at)
         else
            local first, last = text:find(pattern, at)
            found = first and text:sub(first, last)
         end
         if found and #found > 0 then
            state.at = at + #found
            local _, lines = found:gsub('\n', '')
            state.line = state.line + lines
            local name, value
            if state.filter[action] then name = nil
            elseif type(action) ~= 'function' then name, value = action, found
            elseif state.ours then name, value = action(found, state.options)
            -- Until 2017 actions gave a token by `coroutine.yield`.
            else name, value = coroutine.wrap(action)(found, state.options) end
            if name and not (state.filter[name] or name == 'comment' and state.filter.comments) then
               return name, value
            end
            found = nil
            break
         end
      end
      if state.at == at then return end   -- nothing matches
   end
end

local function next_token(state)
   state.started = true
   local given = table.remove(state.inserted, 1)
   if given then return given[1], given[2] end
   return take(state)
end

-- lexer.scan(text or file, [matches, filter, options])
function lexer.scan(text, matches, filter, options)
   if text == nil then error('expecting a string or a file-like object', 2) end
   local lists = {}
   for i, match in ipairs(matches or PLAIN) do
      local pattern = match[1]
      if type(pattern) == 'string' and pattern:sub(1, 1) ~= '^' then pattern = '^' .. pattern end
      lists[i] = {pattern, match[2]}
   end
   local state = {text = type(text) == 'string' and text or text:read('*a'), at = 1, line = 1, matches = lists,
                  filter = filter or {space = true}, options = options or {number = true, string = true}, inserted = {},
                  ours = matches == nil or matches == LUA or matches == CPP}
   local function token() return next_token(state) end
   states[token] = state
   return token
end
function lexer.lua(text, filter, options)
   return lexer.scan(text, LUA, filter or {space = true, comments = true}, options)
end
function lexer.cpp(text, filter, options)
   return lexer.scan(text, CPP, filter or {space = true, comments = true}, options)
end
function lexer.get_keywords() return LUA_WORDS end

-- Puts tokens before the next one: a kind and a value, a list of such pairs, or a function that gives them.
function lexer.insert(token, first, value)
   local list = {}
   if type(first) == 'function' then
      for name, text in first do list[#list + 1] = {name, text} end
   elseif type(first) == 'table' then
      for i, pair in ipairs(first) do list[i] = pair end
   else list[1] = {first, value} end
   local inserted = states[token].inserted
   for i = #list, 1, -1 do table.insert(inserted, 1, list[i]) end
end
-- 0 before the first token.
function lexer.lineno(token)
   local state = states[token]
   return state.started and state.line or 0
end

-- What is left of the line, or of the text, which is taken away.
function lexer.getline(token)
   local state = states[token]
   local line, after = state.text:match('^([^\n]*)\n?()', state.at)
   if after > state.at + #line then state.line = state.line + 1 end
   state.at = after
   return line
end
function lexer.getrest(token)
   local state = states[token]
   local rest = state.text:sub(state.at)
   state.at = #state.text + 1
   return rest
end

function lexer.skipws(token)
   local name, value
   repeat name, value = token() until name ~= 'space' and name ~= 'comment'
   return name, value
end
function lexer.expecting(token, expected, keep_space)
   assert(type(expected) == 'string', 'expecting a string')
   local name, value
   if keep_space then name, value = token() else name, value = lexer.skipws(token) end
   if name ~= expected then error('expecting ' .. expected, 2) end
   return value
end

-- Lists of tokens up to an end, between delimiters outside of parentheses, and the end that was found.
function lexer.get_separated_list(token, ending, delimiter)
   ending, delimiter = ending or ')', delimiter or ','
   local is_end = type(ending) == 'function' and ending or function(name)
      return name == ending or ending == '\n' and name == 'space'
   end
   local lists, list, depth = {}, {}, 1
   while true do
      local name, value = token()
      if not name then return nil, 'EOS' end
      if depth == 1 and is_end(name, value) then
         lists[#lists + 1] = list
         return lists, {name, value}
      end
      if name == '(' then depth = depth + 1 elseif name == ')' then depth = depth - 1 end
      if name == delimiter and depth == 1 then
         lists[#lists + 1], list = list, {}
      else list[#list + 1] = {name, value} end
   end
end
return lexer
