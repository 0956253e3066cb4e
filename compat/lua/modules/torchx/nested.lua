-- torch.remap and torchx.recursive…: tables of tables of tensors.
local function wrong(...)
   local kinds = {}
   for i = 1, select('#', ...) do kinds[i] = torch.type((select(i, ...))) end
   error(('expecting nested tensors or tables. Got %s instead'):format(table.concat(kinds, ' and ')), 0)
end

-- f(x, y) of the tensors of two tables. What one of them lacks is made: of the type of `p1`, `p2` where given.
function torch.remap(t1, t2, f, p1, p2)
   if type(f) ~= 'function' then error('Expecting function at argument 3') end
   local list = type(t1) == 'table' and t1 or type(t2) == 'table' and t2
   if list then
      t1, t2 = t1 or {}, t2 or {}
      for i = 1, #list do t1[i], t2[i] = torch.remap(t1[i], t2[i], f, p1, p2) end
   elseif torch.isTensor(t1) or torch.isTensor(t2) then
      t1 = t1 or (p1 or t2).new()
      t2 = t2 or (p2 or p1 or t1).new()
      f(t1, t2)
   else wrong(t1, t2) end
   return t1, t2
end

-- What `leaf` says of each tensor, in tables like those of `t`.
local function mapped(t, leaf)
   if torch.isTensor(t) then return leaf(t) end
   if torch.type(t) ~= 'table' then wrong(t) end
   local result = {}
   for key, value in pairs(t) do result[key] = mapped(value, leaf) end
   return result
end

local function each(t, leaf)
   mapped(t, leaf)
   return t
end

-- `leaf(x, y)` for the tensors of `t2`, of which `t1` may lack some; `t1` is filled.
local function into(t1, t2, leaf)
   if torch.type(t2) == 'table' then
      t1 = torch.type(t1) == 'table' and t1 or {t1}
      for key in pairs(t2) do t1[key] = into(t1[key], t2[key], leaf) end
      return t1
   end
   if not torch.isTensor(t2) then wrong(t1, t2) end
   t1 = torch.isTensor(t1) and t1 or t2.new()
   leaf(t1, t2)
   return t1
end

function torchx.recursiveResizeAs(t1, t2) return into(t1, t2, function(x, y) x:resizeAs(y) end), t2 end
function torchx.recursiveSet(t1, t2) return into(t1, t2, function(x, y) x:set(y) end), t2 end
function torchx.recursiveCopy(t1, t2) return into(t1, t2, function(x, y) x:resizeAs(y):copy(y) end), t2 end
function torchx.recursiveIndex(result, source, dimension, indices)
   return into(result, source, function(x, y) x:index(y, dimension, indices) end)
end

function torchx.recursiveAdd(t1, t2)
   if torch.type(t2) == 'table' then
      t1 = torch.type(t1) == 'table' and t1 or {t1}
      for key in pairs(t2) do t1[key] = torchx.recursiveAdd(t1[key], t2[key]) end
   elseif torch.isTensor(t1) and torch.isTensor(t2) then t1:add(t2)
   else wrong(t1, t2) end
   return t1, t2
end

function torchx.recursiveTensorEq(t1, t2)
   if torch.type(t2) == 'table' then
      if torch.type(t1) ~= 'table' then return false end
      for key in pairs(t2) do
         if not torchx.recursiveTensorEq(t1[key], t2[key]) then return false end
      end
      return true
   end
   if not torch.isTensor(t2) then wrong(t1, t2) end
   return (t1 - t2):abs():max() < 0.00001
end

function torchx.recursiveNormal(t) return each(t, function(x) x:normal() end) end
function torchx.recursiveFill(t, value) return each(t, function(x) x:fill(value) end) end
function torchx.recursiveNew(t) return mapped(t, function(x) return x.new() end) end
function torchx.recursiveSub(t, first, last) return mapped(t, function(x) return x:sub(first, last) end) end
function torchx.recursiveSum(t)
   local sum = 0
   mapped(t, function(x) sum = sum + x:sum() end)
   return sum
end
function torchx.recursiveSize(t, without)
   return mapped(t, function(x)
      local size = x:size():totable()
      if without then table.remove(size, without) end
      return size
   end)
end
function torchx.recursiveType(t, type)
   if torch.type(t) == 'table' then
      for i = 1, #t do t[i] = torchx.recursiveType(t[i], type) end
      return t
   end
   return torch.isTensor(t) and t:type(type) or t
end
function torchx.recursiveBatchSize(t)
   while torch.type(t) == 'table' do t = t[1] end
   assert(torch.isTensor(t))
   return t:size(1)
end
