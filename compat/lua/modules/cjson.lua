-- JSON, as lua-cjson reads and writes it.
local cjson = {_NAME = 'cjson', _VERSION = '2.1.0'}
cjson.null = newproxy(true)
getmetatable(cjson.null).__tostring = function() return 'userdata: (nil)' end
cjson.empty_array = newproxy()

local settings = {sparse_convert = false, sparse_ratio = 2, sparse_safe = 10, encode_depth = 1000, decode_depth = 1000,
                  precision = 14, encode_invalid = false, decode_invalid = true}

-- Writing -------------------------------------------------------------------------------------------------

local ESCAPES = {['"'] = '\\"', ['\\'] = '\\\\', ['/'] = '\\/', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n',
                 ['\r'] = '\\r', ['\t'] = '\\t', ['\127'] = '\\u007f'}
local function escape(text)
   return '"' .. text:gsub('[%c"\\/\127]', function(c) return ESCAPES[c] or ('\\u%04x'):format(c:byte()) end) .. '"'
end

local function fail(value, reason)
   error(('Cannot serialise %s: %s'):format(type(value), reason), 0)
end

local function number(value)
   if value ~= value or value == math.huge or value == -math.huge then
      if not settings.encode_invalid then fail(value, 'must not be NaN or Inf') end
      if settings.encode_invalid == 'null' then return 'null' end
      return value ~= value and 'nan' or value > 0 and 'inf' or '-inf'
   end
   return ('%.' .. settings.precision .. 'g'):format(value)
end

-- The length of an array, or nil for an object.
local function array_length(t)
   local most, count = 0, 0
   for key in pairs(t) do
      if type(key) ~= 'number' or key < 1 or key % 1 ~= 0 then return nil end
      most, count = math.max(most, key), count + 1
   end
   if count == 0 then return nil end
   if settings.sparse_ratio > 0 and most > count * settings.sparse_ratio and most > settings.sparse_safe then
      if not settings.sparse_convert then fail(t, 'excessively sparse array') end
      return nil
   end
   return most
end

local write
local function write_table(t, out, depth)
   if depth > settings.encode_depth then
      error(('Cannot serialise, excessive depth (%d)'):format(depth), 0)
   end
   local n = array_length(t)
   if n then
      out[#out + 1] = '['
      for i = 1, n do
         if i > 1 then out[#out + 1] = ',' end
         write(t[i], out, depth)
      end
      out[#out + 1] = ']'
      return
   end
   out[#out + 1] = '{'
   local first = true
   for key, value in pairs(t) do
      if not first then out[#out + 1] = ',' end
      first = false
      if type(key) == 'number' then out[#out + 1] = '"' .. number(key) .. '":'
      elseif type(key) == 'string' then out[#out + 1] = escape(key) .. ':'
      else fail(key, 'table key must be a number or string') end
      write(value, out, depth)
   end
   out[#out + 1] = '}'
end
function write(value, out, depth)
   local kind = type(value)
   if value == nil or value == cjson.null then out[#out + 1] = 'null'
   elseif value == cjson.empty_array then out[#out + 1] = '[]'
   elseif kind == 'string' then out[#out + 1] = escape(value)
   elseif kind == 'number' then out[#out + 1] = number(value)
   elseif kind == 'boolean' then out[#out + 1] = tostring(value)
   elseif kind == 'table' then write_table(value, out, depth + 1)
   else fail(value, 'type not supported') end
end
function cjson.encode(value)
   local out = {}
   local ok, message = pcall(write, value, out, 0)
   if not ok then error(message, 2) end
   return table.concat(out)
end

-- Reading -------------------------------------------------------------------------------------------------

local WORDS = {['true'] = true, ['false'] = false, null = cjson.null}
local UNESCAPES = {b = '\b', f = '\f', n = '\n', r = '\r', t = '\t', ['"'] = '"', ['\\'] = '\\', ['/'] = '/'}

local function utf8(code)
   local char, floor = string.char, math.floor
   if code < 0x80 then return char(code) end
   if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
   if code < 0x10000 then
      return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
   end
   return char(0xF0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64, 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

local function describe(text, place)
   local c = text:sub(place, place)
   if c == '' then return 'T_END' end
   local names = {['{'] = 'T_OBJ_BEGIN', ['}'] = 'T_OBJ_END', ['['] = 'T_ARR_BEGIN', [']'] = 'T_ARR_END',
                  [','] = 'T_COMMA', [':'] = 'T_COLON', ['"'] = 'T_STRING'}
   return names[c] or c:match('%d') and 'T_NUMBER' or 'invalid token'
end
local function expected(what, text, place)
   error(('Expected %s but found %s at character %d'):format(what, describe(text, place), place), 0)
end

local function skip(text, place) return text:find('[^ \t\r\n]', place) or #text + 1 end

local function read_string(text, place)
   local from, parts = place + 1, {}
   while true do
      local stop = text:find('["\\%c]', from)
      if not stop then
         error(('Expected value but found unexpected end of string at character %d'):format(#text + 1), 0)
      end
      parts[#parts + 1] = text:sub(from, stop - 1)
      local c = text:sub(stop, stop)
      if c == '"' then return table.concat(parts), stop + 1 end
      if c ~= '\\' then error(('Expected value but found invalid token at character %d'):format(stop), 0) end
      local kind = text:sub(stop + 1, stop + 1)
      if kind == 'u' then
         local code = tonumber(text:match('^%x%x%x%x', stop + 2) or '', 16)
         from = stop + 6
         if code and code >= 0xD800 and code < 0xDC00 then
            local low = tonumber(text:match('^\\u(%x%x%x%x)', from) or '', 16)
            code = low and low >= 0xDC00 and low < 0xE000 and 0x10000 + (code - 0xD800) * 1024 + low - 0xDC00
            from = from + 6
         end
         if not code then
            error(('Expected value but found invalid unicode escape code at character %d'):format(stop), 0)
         end
         parts[#parts + 1] = utf8(code)
      elseif UNESCAPES[kind] then
         parts[#parts + 1] = UNESCAPES[kind]
         from = stop + 2
      else error(('Expected value but found invalid escape code at character %d'):format(stop), 0) end
   end
end

local function read(text, place, depth)
   place = skip(text, place)
   local c = text:sub(place, place)
   if c == '{' or c == '[' then
      depth = depth + 1
      if depth > settings.decode_depth then
         error(('Found too many nested data structures (%d) at character %d'):format(depth, place), 0)
      end
      local result, closing = {}, c == '{' and '}' or ']'
      place = skip(text, place + 1)
      if text:sub(place, place) == closing then return result, place + 1 end
      local n = 0
      while true do
         local key
         if closing == '}' then
            if text:sub(place, place) ~= '"' then expected('object key string', text, place) end
            key, place = read_string(text, place)
            place = skip(text, place)
            if text:sub(place, place) ~= ':' then expected('colon', text, place) end
            place = place + 1
         else
            n = n + 1
            key = n
         end
         result[key], place = read(text, place, depth)
         place = skip(text, place)
         local after = text:sub(place, place)
         if after == closing then return result, place + 1 end
         if after ~= ',' then
            expected(closing == '}' and 'comma or object end' or 'comma or array end', text, place)
         end
         place = skip(text, place + 1)
      end
   elseif c == '"' then return read_string(text, place)
   end
   local word = text:match('^%a+', place)
   if word and WORDS[word] ~= nil then return WORDS[word], place + #word end
   local digits = text:match('^-?0[xX]%x+', place) or text:match('^-?%d+%.?%d*[eE][+-]?%d+', place) or
      text:match('^-?%d+%.?%d*', place) or settings.decode_invalid and text:match('^[-+]?[nN][aA][nN]', place) or
      settings.decode_invalid and text:match('^[-+]?[iI][nN][fF]%a*', place)
   local value = digits and (tonumber(digits) or digits:lower():find('nan') and 0 / 0 or
                             digits:sub(1, 1) == '-' and -math.huge or digits and math.huge)
   if not value then expected('value', text, place) end
   return value, place + #digits
end

function cjson.decode(text)
   if type(text) ~= 'string' then
      error(("bad argument #1 to 'decode' (string expected, got %s)"):format(text == nil and 'nil' or type(text)), 2)
   end
   local ok, value, place = pcall(read, text, 1, 0)
   if not ok then error(value, 2) end
   place = skip(text, place)
   if place <= #text then
      error(('Expected the end but found %s at character %d'):format(describe(text, place), place), 2)
   end
   return value
end

-- Settings ------------------------------------------------------------------------------------------------

function cjson.encode_sparse_array(convert, ratio, safe)
   if convert ~= nil then settings.sparse_convert = convert end
   settings.sparse_ratio, settings.sparse_safe = ratio or settings.sparse_ratio, safe or settings.sparse_safe
   return settings.sparse_convert, settings.sparse_ratio, settings.sparse_safe
end
local function setting(name)
   return function(value)
      if value ~= nil then settings[name] = value end
      return settings[name]
   end
end
cjson.encode_max_depth, cjson.decode_max_depth = setting('encode_depth'), setting('decode_depth')
cjson.encode_number_precision = setting('precision')
cjson.encode_invalid_numbers, cjson.decode_invalid_numbers = setting('encode_invalid'), setting('decode_invalid')
cjson.encode_keep_buffer = function() return true end
function cjson.new() return cjson end

return cjson
