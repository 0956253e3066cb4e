-- Methods of tensors that are Lua in Torch7, too, and how tensors and storages are printed.
local t7 = ...
local torch = t7.torch
local getfenv, type = debug.getfenv, type
local Tensor, Storage = {}, {}
local KINDS = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Half', 'Double'}

-- Printing ------------------------------------------------------------------------------------------------

local function exponent(x)
   return x ~= 0 and math.floor(math.log10(x)) + 1 or 1
end

-- The format of numbers, their common factor (or nil) and their width.
local function format_of(numbers)
   local n = #numbers
   if n == 0 then return '', nil, 0 end
   local whole = true
   local low, high = math.huge, -math.huge
   local nan = false
   for i = 1, n do
      local v = numbers[i]
      if v ~= math.ceil(v) then whole = false end
      v = math.abs(v)
      if v ~= v then nan = true end
      if v < low then low = v end
      if v > high then high = v end
   end
   if nan then low, high = 0/0, 0/0 end
   low, high = exponent(low), exponent(high)
   if whole then
      if high > 9 then return '%11.4e', nil, 11 end
      if high ~= high then return '%f', nil, high + 1 end
      return '%' .. string.format('%d', high + 1) .. 'd', nil, high + 1
   end
   if high - low > 4 then
      local width = (math.abs(high) > 99 or math.abs(low) > 99) and 12 or 11
      return '%' .. width .. '.4e', nil, width
   end
   if high > 5 or high < 0 then
      local scale = math.pow(10, high - 1)
      return '%7.4f', scale ~= 1 and scale or nil, 7
   end
   local width = high == 0 and 7 or high + 6
   if width ~= width then return '%f', nil, width end
   return '%' .. width .. '.4f', nil, width
end

local function written(format, v)
   return string.format(format, v)
end

local function numbers_of(storage)
   return storage:totable()
end

function Storage.__tostring__(self)
   local numbers = numbers_of(self)
   local format, scale = format_of(numbers)
   local lines = {}
   if scale then lines[1] = string.format('%g', scale) .. ' *\n' end
   for i = 1, #numbers do lines[#lines + 1] = written(format, numbers[i] / (scale or 1)) .. '\n' end
   lines[#lines + 1] = '[' .. torch.typename(self) .. ' of size ' .. self:size() .. ']\n'
   return table.concat(lines)
end

-- A matrix in blocks of columns; `numbers` are all of the tensor's, which the format is for.
local function matrix(numbers, start, rows, columns, indent)
   local format, scale, width = format_of(numbers)
   scale = scale or 1
   local per_line = math.floor((80 - #indent) / (width + 1))
   local text = {indent}
   local first = 1
   while first <= columns do
      local last = math.min(first + per_line - 1, columns)
      if not (first + per_line - 1 <= columns) then last = columns end
      if per_line < columns then
         if first ~= 1 then text[#text + 1] = '\n' end
         text[#text + 1] = 'Columns ' .. first .. ' to ' .. last .. '\n' .. indent
      end
      if scale ~= 1 then text[#text + 1] = string.format('%g', scale) .. ' *\n ' .. indent end
      for l = 1, rows do
         for c = first, last do
            text[#text + 1] = written(format, numbers[start + (l - 1) * columns + c] / scale)
            text[#text + 1] = c == last and '\n' or ' '
         end
         if l ~= rows then text[#text + 1] = scale ~= 1 and indent .. ' ' or indent end
      end
      first = last + 1
   end
   return table.concat(text)
end

function Tensor.__tostring__(self)
   local n = self:nDimension()
   if n == 0 then return '[' .. torch.typename(self) .. ' with no dimension]\n' end
   local sizes = {}
   for d = 1, n do sizes[d] = self:size(d) end
   local numbers = numbers_of(torch.DoubleTensor():resize(self:size()):copy(self):storage())
   local text = {}
   if n == 1 then
      local format, scale = format_of(numbers)
      if scale then text[1] = string.format('%g', scale) .. ' *\n' end
      for i = 1, sizes[1] do text[#text + 1] = written(format, numbers[i] / (scale or 1)) .. '\n' end
   elseif n == 2 then
      text[1] = matrix(numbers, 0, sizes[1], sizes[2], '')
   else
      local rows, columns = sizes[n - 1], sizes[n]
      local counter = {}
      for d = 1, n - 2 do counter[d] = 1 end
      local blocks = #numbers / (rows * columns)
      for block = 1, blocks do
         local start = 0
         for d = 1, n - 2 do start = start * sizes[d] + counter[d] - 1 end
         if block > 1 then text[#text + 1] = '\n' end
         text[#text + 1] = '(' .. table.concat(counter, ',') .. ',.,.) = \n'
         text[#text + 1] = matrix(numbers, start * rows * columns, rows, columns, ' ')
         for d = 1, n - 2 do
            counter[d] = counter[d] + 1
            if counter[d] <= sizes[d] then break end
            counter[d] = 1
         end
      end
   end
   text[#text + 1] = '[' .. torch.typename(self) .. ' of size ' .. table.concat(sizes, 'x') .. ']\n'
   return table.concat(text)
end

-- Types ---------------------------------------------------------------------------------------------------

function Tensor.type(self, type)
   local current = torch.typename(self)
   if not type then return current end
   if type == current then return self end
   local new = torch.getmetatable(type).new()
   if self:nElement() > 0 then new:resize(self:size()):copy(self) end
   return new
end
function Tensor.typeAs(self, tensor) return self:type(tensor:type()) end
for _, kind in ipairs(KINDS) do
   Tensor[kind:lower()] = function(self) return self:type('torch.' .. kind .. 'Tensor') end
end
function Tensor.real(self) return self:type(torch.getdefaulttensortype()) end

-- Shapes --------------------------------------------------------------------------------------------------

-- The tensor that is the result, the source, and the sizes, for f(result, source, …) and source:f(…).
local function result_and_sizes(result, tensor, ...)
   local sizes = {...}
   local kind = torch.type(tensor)
   if kind == 'number' or kind == 'torch.LongStorage' then
      table.insert(sizes, 1, tensor)
      tensor = result
      result = tensor.new()
   end
   local size
   if torch.type(sizes[1]) == 'torch.LongStorage' then size = sizes[1]
   else
      size = torch.LongStorage(#sizes)
      for i, s in ipairs(sizes) do size[i] = s end
   end
   return result, tensor, size
end

function Tensor.expand(result, tensor, ...)
   local size
   result, tensor, size = result_and_sizes(result, tensor, ...)
   local dim, stride, own = tensor:dim(), tensor:stride(), tensor:size()
   if #size ~= dim then error('the number of dimensions provided must equal tensor:dim()') end
   for i = 1, dim do
      if own[i] == 1 then
         own[i] = size[i]
         stride[i] = 0
      elseif own[i] ~= size[i] then
         error('incorrect size: only supporting singleton expansion (size=1)')
      end
   end
   result:set(tensor:storage(), tensor:storageOffset(), own, stride)
   return result
end

function Tensor.expandAs(result, tensor, template)
   if template then return result:expand(tensor, template:size()) end
   return result:expand(tensor:size())
end

function Tensor.repeatTensor(result, tensor, ...)
   local size
   result, tensor, size = result_and_sizes(result, tensor, ...)
   if not tensor:isContiguous() then tensor = tensor:clone() end
   local extra = size:size() - tensor:dim()
   if extra < 0 then
      error('Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor')
   end
   local full = tensor:size():totable()
   for _ = 1, extra do table.insert(full, 1, 1) end
   local source = tensor.new():set(tensor):resize(torch.LongStorage(full))
   local total = torch.LongStorage(#full)
   for i = 1, #full do total[i] = full[i] * size[i] end
   result:resize(total)
   local target = result.new(result)
   for i = 1, #full do target = target:unfold(i, full[i], full[i]) end
   for _ = 1, #full do table.insert(full, 1, 1) end
   target:copy(source:resize(torch.LongStorage(full)):expandAs(target))
   return result
end

local function is_tensor(x)
   local name = torch.typename(x)
   return name and name:find('torch.*Tensor')
end
local function is_size(x) return torch.typename(x) == 'torch.LongStorage' end

-- A size of -1 is what is left.
local function without_blank(size, elements)
   local covered, blank = 1, nil
   local sizes = size:totable()
   for i, s in ipairs(sizes) do
      if s ~= -1 then covered = covered * s
      elseif blank then error('Only one of torch.view dimensions can be -1.')
      else blank = i end
   end
   if not blank then return size end
   assert(elements % covered == 0, 'The number of covered elements is not a multiple of all elements.')
   local full = torch.LongStorage(sizes)
   full[blank] = elements / covered
   return full
end

function Tensor.view(result, source, ...)
   local size = ...
   local view, tensor
   if is_tensor(result) and is_tensor(source) and type(size) == 'number' then
      view, tensor, size = result, source, torch.LongStorage{...}
   elseif is_tensor(result) and is_tensor(source) and is_size(size) then
      view, tensor = result, source
   elseif is_tensor(result) and is_size(source) and size == nil then
      view, tensor, size = result.new(), result, source
   elseif is_tensor(result) and type(source) == 'number' then
      view, tensor, size = result.new(), result, torch.LongStorage{source, ...}
   else
      error('torch.view, expected (torch.Tensor, torch.Tensor, number [, number ]*) or\n ' ..
            '(torch.Tensor, torch.Tensor, torch.LongStorage) or\n (torch.Tensor, torch.LongStorage)\n ' ..
            'or (torch.Tensor, number [, number ]*)')
   end
   local elements = tensor:nElement()
   size = without_blank(size, elements)
   assert(tensor:isContiguous(), 'expecting a contiguous tensor')
   view:set(tensor:storage(), tensor:storageOffset(), size)
   if view:nElement() ~= elements then
      error(string.format('Wrong size for view. Input size: %s. Output size: %s',
                          table.concat(tensor:size():totable(), 'x'), table.concat(size:totable(), 'x')))
   end
   return view
end

function Tensor.viewAs(result, source, template)
   if template and torch.typename(template) then return result:view(source, template:size()) end
   if template == nil then
      template, source = source, result
      return source.new():view(source, template:size())
   end
   error('expecting (torch.Tensor, torch.Tensor, torch.LongStorage) or (torch.Tensor, torch.LongStorage)')
end

function Tensor.split(result, tensor, splitSize, dim)
   if torch.type(result) ~= 'table' then
      result, tensor, splitSize, dim = {}, result, tensor, splitSize
   else
      for key in pairs(result) do result[key] = nil end
   end
   dim = dim or 1
   local start, count = 1, 0 -- of a table of Python's # knows nothing here
   while start <= tensor:size(dim) do
      local size = math.min(splitSize, tensor:size(dim) - start + 1)
      count = count + 1
      result[count] = tensor:narrow(dim, start, size)
      start = start + size
   end
   return result
end

function Tensor.chunk(result, tensor, nChunk, dim)
   if torch.type(result) ~= 'table' then
      result, tensor, nChunk, dim = {}, result, tensor, nChunk
   end
   dim = dim or 1
   local size = math.ceil(tensor:size(dim) / nChunk)
   return torch.split(result, tensor, size, dim)
end

function Tensor.permute(tensor, ...)
   local perm = {...}
   local n = tensor:dim()
   assert(#perm == n, 'Invalid permutation')
   local seen = {}
   for _, p in ipairs(perm) do
      assert(p >= 1 and p <= n and not seen[p], 'Invalid permutation')
      seen[p] = true
   end
   local size, stride = torch.LongStorage(n), torch.LongStorage(n)
   for i, p in ipairs(perm) do size[i], stride[i] = tensor:size(p), tensor:stride(p) end
   return tensor.new():set(tensor:storage(), tensor:storageOffset(), size, stride)
end

function Tensor.totable(tensor)
   local result = {}
   local dim = tensor:dim()
   if dim == 1 then
      for i = 1, tensor:size(1) do result[i] = tensor[i] end
   elseif dim > 0 then
      for i = 1, tensor:size(1) do result[i] = tensor[i]:totable() end
   end
   return result
end

for _, name in ipairs{'expand', 'expandAs', 'repeatTensor', 'view', 'viewAs', 'split', 'chunk', 'permute', 'totable'} do
   torch[name] = name == 'totable' and torch.totable or Tensor[name]
end
Tensor.isTensor = torch.isTensor

function torch.multinomialAliasSetup(probs, state)
   if torch.type(state) ~= 'table' then
      state = {}
      state[1], state[2] = torch.multinomialAliasSetup_(probs)
   else
      state[1], state[2] = torch.multinomialAliasSetup_(probs, state[1], state[2])
   end
   return state
end
function torch.multinomialAlias(output, state)
   torch.DoubleTensor.multinomialAlias_(output, state[1], state[2])
   return output
end

function t7.lua_methods(C)
   for name, f in pairs(Tensor) do rawset(C.mt, name, f) end
   for name, f in pairs(Storage) do rawset(C.smt, name, f) end
end
