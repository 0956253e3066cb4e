-- pl.pretty
local pretty = {}
local KEYWORDS = {}
for word in ([[and break do else elseif end false for function if in local nil not or repeat return then true until
               while goto]]):gmatch('%S+') do KEYWORDS[word] = true end

local function quoted(value)
   if value ~= value then return 'NaN' end
   return type(value) == 'string' and ('%q'):format(value):gsub('\\\n', '\\n') or tostring(value)
end

-- `space` is the indentation; '' writes all in one line.
function pretty.write(t, space, not_clever)
   if type(t) ~= 'table' then return quoted(t), type(t) ~= 'string' and 'not a table' or nil end
   space = space or '  '
   local separator = space == '' and '' or '\n'
   local equals = space == '' and '=' or ' = '
   local lines, open = {}, {}
   local function write(value, indent, prefix)
      if type(value) ~= 'table' then
         lines[#lines + 1] = indent .. prefix .. quoted(value) .. ','
         return
      end
      if open[value] then
         lines[#lines + 1] = indent .. prefix .. '<cycle>,'
         return
      end
      open[value] = true
      lines[#lines + 1] = indent .. prefix .. '{'
      local inner = indent .. space
      local n = #value
      for i = 1, n do write(value[i], inner, '') end
      for key, item in pairs(value) do
         if not (type(key) == 'number' and key >= 1 and key <= n and key % 1 == 0) then
            local name = not not_clever and type(key) == 'string' and key:find('^[%a_][%w_]*$') and not KEYWORDS[key] and key or
               '[' .. quoted(key) .. ']'
            write(item, inner, name .. equals)
         end
      end
      if lines[#lines]:sub(-1) == ',' then lines[#lines] = lines[#lines]:sub(1, -2) end
      lines[#lines + 1] = indent .. '},'
      open[value] = nil
   end
   write(t, '', '')
   local text = table.concat(lines, separator)
   return (text:gsub(',$', ''))
end
function pretty.dump(t, file)
   if not file then
      print(pretty.write(t))
      return true
   end
   local handle, message = io.open(file, 'w')
   if not handle then return nil, message end
   handle:write((pretty.write(t)))
   handle:close()
   return true
end
function pretty.read(text)
   if not text:find('^%s*{') then return nil, 'not a Lua table' end
   if text:find('[^%w_]function[^%w_]') then return nil, 'cannot have functions in table definition' end
   local f, message = loadstring('return ' .. text)
   if not f then return nil, message end
   setfenv(f, {})
   local ok, value = pcall(f)
   if ok then return value end
   return nil, value
end
function pretty.load(text, env, paranoid)
   local f, message = loadstring(text)
   if not f then return nil, message end
   env = env or {}
   setfenv(f, env)
   local ok, complaint = pcall(f)
   if not ok then return nil, complaint end
   return env
end
function pretty.debug(...) print(pretty.write{...}) end
function pretty.number(n, kind, precision)
   precision = precision or 1
   if kind == 'T' then
      local digits, n_changed = tostring(math.floor(n))
      repeat digits, n_changed = digits:gsub('^(-?%d+)(%d%d%d)', '%1,%2') until n_changed == 0
      return digits
   end
   local units = kind == 'M' and {{2 ^ 30, 'GiB'}, {2 ^ 20, 'MiB'}, {2 ^ 10, 'KiB'}} or {{1e9, 'B'}, {1e6, 'M'}, {1e3, 'K'}}
   for _, unit in ipairs(units) do
      if n >= unit[1] then return ('%.' .. precision .. 'f%s'):format(n / unit[1], unit[2]) end
   end
   return tostring(n)
end
return setmetatable(pretty, {__call = function(_, ...) return pretty.debug(...) end})
