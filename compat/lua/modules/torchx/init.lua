-- Torch7's package torchx: what dpnn, rnn and dp use besides torch.
require 'torch'
require 'paths'
require 'sys'
ffi = torch._t7.ffi or ffi
local t7 = torch._t7
local system = t7.import('compat.lua.system')

torchx = {version = 1}
torch.md5 = require 'md5'

t7.bring('compat.random', function(name) return name == 'AliasMultinomial' end)
t7.adapt('torch.AliasMultinomial', {draw = function(self)
   local category = math.random(1, self.J:nElement())
   return math.random() < self.q[category] and category or self.J[category]
end})

function torch.find(tensor, wanted, dimension)
   assert(not dimension or tensor:dim() == 2, 'torch.find dim arg only supports matrices for now')
   assert(not dimension or dimension == 2, 'torch.find only supports dim=2 for now')
   local width = dimension and tensor:size(2) or math.huge
   local rows, found, place = {}, {}, 0
   tensor:apply(function(value)
      place = place + 1
      if value == wanted then found[#found + 1] = place end
      if place == width then
         rows[#rows + 1], found, place = found, {}, 0
      end
   end)
   return dimension and rows or found
end

-- torch.group([sorted, index,] tensor, [same, descending])
function torch.group(sorted, index, tensor, same, descending)
   if not torch.isTensor(tensor) then
      sorted, index, tensor, same, descending = nil, nil, sorted, index, tensor
   end
   assert(torch.isTensor(tensor), 'expecting torch.Tensor for arg 3')
   sorted, index = sorted or tensor.new(), index or torch.LongTensor()
   assert(torch.type(sorted) == torch.type(tensor), 'expecting torch.Tensor for arg 1 as same type as arg 2')
   assert(torch.type(index) == 'torch.LongTensor', 'expecting torch.LongTensor for arg 2')
   same = same or function(first, value) return first == value end
   assert(type(same) == 'function', 'expecting function for arg 4')
   sorted:sort(index, tensor, descending or false)

   local groups, start, first = {}, 1, sorted[1]
   local function close(stop)
      groups[first] = {idx = index:narrow(1, start, stop - start), val = sorted:narrow(1, start, stop - start)}
   end
   for i, value in ipairs(sorted:totable()) do
      if not same(first, value) then
         close(i)
         start, first = i, value
      end
   end
   close(sorted:size(1) + 1)
   return groups, sorted, index
end

-- torch.concat([result,] tensors, [dimension,] [index of the tensor whose type a new result has])
function torch.concat(result, tensors, dimension, index)
   if type(result) == 'table' then
      result, tensors, dimension, index = nil, result, tensors, dimension
   end
   assert(type(tensors) == 'table', 'expecting table at arg 2')
   dimension, index = dimension or 1, index or 1
   local size
   for i, tensor in ipairs(tensors) do
      assert(torch.isTensor(tensor), 'Expecting table of torch.Tensors at arg 2 : ' .. torch.type(tensor))
      local own = tensor:size():totable()
      if not size then size = own
      else
         for j, count in ipairs(own) do
            if j == dimension then size[j] = (size[j] or 0) + count
            elseif size[j] and size[j] ~= count then
               error(('Cannot concat dim %d with different sizes: %d ~= %d for tensor at index %d'):format(
                  j, size[j], count, i), 2)
            end
         end
      end
   end
   result = result or tensors[index].new()
   result:resize(unpack(size))
   local start = 1
   for _, tensor in ipairs(tensors) do
      local count = tensor:size(dimension)
      result:narrow(dimension, start, count):copy(tensor)
      start = start + count
   end
   return result
end
function torchx.extend(types, functions, are_tensors)
   for _, name in ipairs(types) do
      local class = torch.getmetatable(are_tensors and 'torch.' .. name .. 'Tensor' or name)
      for key, f in pairs(functions) do rawset(class, key, f) end
   end
end
torchx.extend({'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'}, {concat = torch.concat}, true)

-- The largest leaf of a tree of those sizes, where each level goes to the child of the largest mean.
function torch.treemax(tensor, sizes)
   assert(torch.type(sizes) == 'table')
   assert(tensor:dim() == 1)
   local level, place, best = tensor:contiguous(), 1, 0
   for i, size in ipairs(sizes) do
      level = level:view(size, -1)
      local width = level:size(2)
      local scores = i < #sizes and level:mean(2):select(2, 1) or level:select(2, 1)
      local most, child = scores:max(1)
      best, level, place = most[1], level[child[1]], place + (child[1] - 1) * width
   end
   return best, place
end

require 'torchx.nested'
require 'torchx.indexdir'

-- A queue: what was put first is got first.
local Queue = torch.class('torchx.Queue')
function Queue:__init() self.first, self.last, self.list = 0, -1, {} end
function Queue:put(value)
   self.first = self.first - 1
   self.list[self.first] = value
end
function Queue:empty() return self.first > self.last end
function Queue:get()
   if self:empty() then error('Queue is empty') end
   local value = self.list[self.last]
   self.list[self.last], self.last = nil, self.last - 1
   return value
end

return torchx
