-- Compiles the table of signatures: for each type and name a function that finds the form that fits its arguments.
local t7 = ...
local torch, ops = t7.torch, t7.ops
local getmetatable, type, tonumber = getmetatable, type, tonumber

local function split(text, separator)
   local parts = {}
   for part in (text .. separator):gmatch('(.-)' .. separator:gsub('%p', '%%%0')) do parts[#parts + 1] = part end
   return parts
end

local SCALARS = {real = true, accreal = true, double = true, long = true, int = true, index = true}

-- One argument: {kind, type of tensor, dims, result, required in functions/methods, default, help}
local function parse(token, method)
   local a = {token = token}
   local inner = token:match('^%[(.*)%]$')
   if inner then
      local kind, default = inner:match('^(%w+)=(.*)$')
      a.kind, a.default, a.optional = kind, default, true
      return a
   end
   if SCALARS[token] then a.kind = token return a end
   if token == 'gen' then a.kind, a.optional = 'gen', true return a end
   if token == 'dims' then a.kind, a.vararg = 'dims', true return a end
   if token == '{T}' then a.kind = 'tensors' return a end
   if token:match('^%(') then a.kind, a.letters, a.optional = 'letter', token:sub(2, -2), true return a end
   local kind, mark, dims = token:match('^([LBI]?r)([?!]?)(%d?)$')
   if kind then
      a.kind, a.result = 'tensor', true
      a.class = ({Lr = 'Long', Br = 'Byte', Ir = 'Int'})[kind]
      a.dims = tonumber(dims)
      a.optional = mark == '?' or mark == '' and not method
      return a
   end
   local same, letter, dims = token:match('^(=?)([LT][FD]?)(%d?)$')
   assert(letter, token)
   a.kind = 'tensor'
   a.class = ({L = 'Long', TF = 'Float', TD = 'Double'})[letter]
   a.dims = tonumber(dims)
   a.optional = same == '=' and method
   a.self = a.optional
   return a
end

local function help(a, C)
   local text
   if a.kind == 'tensor' then
      text = (a.class and t7.class_of_kind(C, a.class) or C).short .. (a.dims and '~' .. a.dims .. 'D' or '')
      if a.result then text = '*' .. text .. '*' end
   elseif a.kind == 'real' then text = C.real
   elseif a.kind == 'accreal' then text = C.accreal
   elseif a.kind == 'gen' then text = 'Generator'
   elseif a.kind == 'dims' then text = '(LongStorage | dim1 [dim2...])'
   elseif a.kind == 'tensors' then text = '{' .. C.short .. '+}'
   elseif a.kind == 'letter' then text = '(' .. (a.letters == 'S|A' and 'A|S' or a.letters) .. ')'
   else text = a.kind end
   return a.optional and '[' .. text .. ']' or text
end

local function argument_names(...)
   local n = select('#', ...)
   if n == 0 then return 'no arguments provided' end
   local names = {}
   for i = 1, n do
      local v = select(i, ...)
      local name = t7.typename(v)
      if name then name = name:gsub('^torch%.', '')
      else
         name = type(v)
         if name == 'string' and tonumber(v) then name = 'number' end
         if name == 'function' or name == 'thread' then name = '???' end
      end
      names[i] = name .. ' '
   end
   return table.concat(names)
end
t7.argument_names = argument_names

local function is_generator(x) return getmetatable(x) == t7.Generator end
local function are_longs(first, narg, ...)
   if narg == first and t7.is_long_storage((select(first, ...))) then return true end
   for i = first, narg do
      local v = select(i, ...)
      if type(v) ~= 'number' and not (type(v) == 'string' and tonumber(v)) then return false end
   end
   return true
end
local function longs(first, ...)
   local a = select(first, ...)
   if t7.is_long_storage(a) then
      local list, n = t7.longs_of(a)
      return list, n
   end
   local n = select('#', ...) - first + 1
   local list = {}
   for i = 1, n do list[i] = t7.long((select(first + i - 1, ...)), first + i - 1) end
   return list, n
end

-- The text of one form with these of its optional arguments given.
local function form(alternative, given, C, position, method)
   local checks, values, npar, lastvar = {}, {}, 0, false
   local first_result
   for i, a in ipairs(alternative.arguments) do
      local present = not a.optional or given[a]
      if present then
         npar = npar + 1
         local p = 'a' .. npar
         if a.kind == 'tensor' then
            local indices = C.cuda and a.class == 'Long' and not a.result and 'as_kind(C, %s, "Long")' or '%s'
            checks[#checks + 1] = ('getmetatable(%s) == %s'):format(indices:format(p), a.class and 'MT_' .. a.class or 'MT')
            if a.dims then checks[#checks + 1] = ('getfenv(%s).n == %d'):format(p, a.dims) end
            values[i] = indices:format(p)
            if a.result then first_result = first_result or p end
         elseif a.kind == 'real' or a.kind == 'accreal' or a.kind == 'double' then
            checks[#checks + 1] = ('isnumber(%s)'):format(p)
            local conversion = C.integer and (a.kind == 'real' and 'cast(%s)' or a.kind == 'accreal' and 'whole(%s)')
            values[i] = (conversion or '(%s + 0)'):format(p)
         elseif a.kind == 'long' or a.kind == 'int' or a.kind == 'index' then
            checks[#checks + 1] = ('isnumber(%s)'):format(p)
            values[i] = ('whole(%s)'):format(p)
         elseif a.kind == 'boolean' then
            checks[#checks + 1] = ("type(%s) == 'boolean'"):format(p)
            values[i] = p
         elseif a.kind == 'gen' then
            checks[#checks + 1] = ('is_generator(%s)'):format(p)
            values[i] = p
         elseif a.kind == 'dims' then
            checks[#checks + 1] = ('are_longs(%d, n, ...)'):format(npar)
            values[i] = ('longs(%d, ...)'):format(npar)
            lastvar = true
         elseif a.kind == 'tensors' then
            checks[#checks + 1] = ("(type(%s) == 'table' and %s[1] ~= nil)"):format(p, p)
            values[i] = ('plain(%s)'):format(p)
         elseif a.kind == 'letter' then
            local set = a.letters:gsub('|', '')
            checks[#checks + 1] = ("type(%s) == 'string' and %s:find('^[%s]')"):format(p, p, set)
            values[i] = p .. ':sub(1, 1)'
         end
      elseif a.self then
         values[i] = first_result or 'C.new()'
      elseif a.kind == 'letter' then
         values[i] = "'" .. a.letters:sub(1, 1) .. "'"
      elseif a.default and a.default ~= 'last' and a.default ~= 'none' then
         values[i] = a.default
      else
         values[i] = 'nil'
      end
   end
   local count = ('n %s %d'):format(lastvar and '>=' or '==', npar)
   table.insert(checks, 1, count)
   -- Functions stay on the stack, for their errors name no place.
   local call = method and 'if %s then return op%d(C, %s) end' or 'if %s then return same(op%d(C, %s)) end'
   return call:format(table.concat(checks, ' and '), position,
                                                      table.concat(values, ', ')), npar
end

local function compile(entry, method, C)
   local forms, helps, most = {}, {}, 1
   local operations = {}
   for position, text in ipairs(split(entry.spec, ' | ')) do
      local arguments, operation = text:match('^%s*(.-)%s*%->%s*(%S+)%s*$')
      local alternative = {arguments = {}}
      local optional, words = {}, {}
      for token in arguments:gmatch('%S+') do
         local a = parse(token, method)
         table.insert(alternative.arguments, a)
         if a.optional then optional[#optional + 1] = a end
         words[#words + 1] = help(a, C)
      end
      helps[position] = table.concat(words, ' ')
      operations[position] = operation
      for variant = 0, 2 ^ #optional - 1 do
         local given = {}
         for bit, a in ipairs(optional) do given[a] = math.floor(variant / 2 ^ (bit - 1)) % 2 == 1 end
         local code, npar = form(alternative, given, C, position, method)
         forms[#forms + 1] = code
         most = math.max(most, npar)
      end
   end
   local parameters = {}
   for i = 1, most do parameters[i] = 'a' .. i end
   local head = {}
   for position, operation in ipairs(operations) do
      head[#head + 1] = ('local op%d = ops[%q]'):format(position, operation)
   end
   local text = ([[
local t7, C, MT, MT_Long, MT_Byte, MT_Int, MT_Float, MT_Double, ops, cast, whole, isnumber, is_generator, are_longs, longs = ...
local getmetatable, getfenv, type, select = getmetatable, debug.getfenv, type, select
local as_kind, plain = t7.as_kind, t7.plain
local function same(...) return ... end
%s
return function(...)
   local n = select('#', ...)
   local %s = ...
   %s
   t7.error('invalid arguments: ' .. t7.argument_names(...) .. %q)
end]]):format(table.concat(head, '\n'), table.concat(parameters, ', '), table.concat(forms, '\n   '),
              '\nexpected arguments: ' .. table.concat(helps, ' | '))
   for _, operation in ipairs(operations) do
      if not ops[operation] then t7.error('internal error: no operation ' .. operation) end
   end
   local function mt(kind)
      local other = t7.class_of_kind(C, kind)
      return other and other.mt
   end
   return assert(loadstring(text, '=(torch)'))(t7, C, C.mt, mt'Long', mt'Byte', mt'Int', mt'Float', mt'Double', ops,
      C.cast, t7.whole, function(v) return type(v) == 'number' or type(v) == 'string' and tonumber(v) ~= nil end,
      is_generator, are_longs, longs)
end

local entries = {}
for line in t7.signatures:gmatch('[^\n]+') do
   local mark, name, types, spec = line:match('^([+-]?)(%S+) (%w+): (.*)$')
   entries[#entries + 1] = {mark = mark, name = name, types = types, spec = spec}
end

local function belongs(types, C)
   local kind = C.numbers
   if types == 'all' then return true end
   if types == 'float' then return not C.integer end
   if types == 'int' then return kind == 'Int' or kind == 'Long' end
   return types == 'byte' and kind == 'Byte'
end

-- Compiled when first called: a script uses few of them.
local function later(entry, method, C)
   local f
   local function stub(...)
      if not f then
         f = compile(entry, method, C)
         if not method then t7.placeless[f] = true end
      end
      return f(...)
   end
   if not method then t7.placeless[stub] = true end
   return stub
end

local functions = {} -- tables of functions by metatable
t7.functions = functions

local function dispatcher(name)
   local function of(...)
      local a, b = ...
      local n = select('#', ...)
      local mt = getmetatable(a)
      local set = mt and functions[mt]
      if not set then
         mt = getmetatable(b)
         set = mt and functions[mt]
         if not set and type(a) == 'table' and a[1] ~= nil then
            mt = getmetatable(a[1])
            set = mt and functions[mt]
         end
         if not set then
            -- A type named after the other arguments.
            local last = n > 0 and select(n, ...)
            mt = type(last) == 'string' and t7.registry[last]
            set = mt and functions[mt]
            if set then n = n - 1 end
         end
         if not set then
            mt = getmetatable(torch.Tensor)
            set = functions[mt]
         end
      end
      local f = set[name]
      if not f then t7.error_here(t7.registry[mt] .. ' does not implement the torch.' .. name .. '() function') end
      if n < select('#', ...) then return f(unpack({...}, 1, n)) end
      return f(...)
   end
   t7.placeless[of] = true
   return of
end

-- The functions of a type by themselves, which nothing of Torch7 calls: their errors name a place.
local function called_directly(set)
   return setmetatable({}, {__index = function(found, name)
      local f = set[name]
      if not f then return nil end
      local function direct(...)
         local function results(...) return ... end
         return results(f(...))
      end
      found[name] = direct
      return direct
   end})
end

-- Gives a type its functions and methods.
function t7.equip(C)
   if C.kind == 'Half' then return end
   local set = {}
   functions[C.mt] = set
   rawset(C.mt, 'torch', called_directly(set))
   for _, entry in ipairs(entries) do
      if belongs(entry.types, C) then
         if entry.mark ~= '-' then set[entry.name] = later(entry, false, C) end
         if entry.mark ~= '+' then rawset(C.mt, entry.name, later(entry, true, C)) end
      end
   end
end
for _, entry in ipairs(entries) do
   if entry.mark ~= '-' then torch[entry.name] = torch[entry.name] or dispatcher(entry.name) end
end
