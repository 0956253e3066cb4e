-- Operations on nested tables of tensors. Those of two tables return both, the first made where it is nil.
local recursive = {}

local function mistaken(a, b)
   local found = torch.type(a) .. (b == nil and '' or ' and ' .. torch.type(b))
   error('expecting nested tensors or tables. Got ' .. found .. ' instead', 0)
end

-- Applies f(tensor, tensor) to the tensors of t2 and those in their places in t1.
local function over_two(f, makes)
   local function walk(t1, t2)
      if torch.type(t2) == 'table' then
         if makes and torch.type(t1) ~= 'table' then t1 = {t1} end
         for key in pairs(t2) do t1[key], t2[key] = walk(t1[key], t2[key]) end
      elseif torch.isTensor(t2) and (makes or torch.isTensor(t1)) then
         if not torch.isTensor(t1) then t1 = t2.new() end
         f(t1, t2)
      else
         mistaken(t1, t2)
      end
      return t1, t2
   end
   return walk
end

recursive.recursiveResizeAs = over_two(function(a, b) a:resizeAs(b) end, true)
recursive.recursiveSet = over_two(function(a, b) a:set(b) end, true)
recursive.recursiveCopy = over_two(function(a, b) a:resizeAs(b):copy(b) end, true)
recursive.recursiveAdd = over_two(function(a, b) a:add(b) end)

-- Whether no element differs by 1e-5 or more.
function recursive.recursiveTensorEq(t1, t2)
   if torch.type(t2) == 'table' then
      if torch.type(t1) ~= 'table' then return false end
      for key in pairs(t2) do
         if not recursive.recursiveTensorEq(t1[key], t2[key]) then return false end
      end
      return true
   elseif torch.isTensor(t1) and torch.isTensor(t2) then
      return (t1 - t2):abs():max() < 0.00001
   end
   mistaken(t1, t2)
end

-- Applies f(tensor, ...) to the tensors of t.
local function over_one(f)
   local function walk(t, ...)
      if torch.type(t) == 'table' then
         for key in pairs(t) do walk(t[key], ...) end
      elseif torch.isTensor(t) then
         f(t, ...)
      else
         mistaken(t)
      end
      return t
   end
   return walk
end

recursive.recursiveNormal = over_one(function(t) t:normal() end)
recursive.recursiveFill = over_one(function(t, value) t:fill(value) end)

function recursive.recursiveSum(t)
   local sum = 0
   over_one(function(tensor) sum = sum + tensor:sum() end)(t)
   return sum
end

function recursive.recursiveNew(t)
   if torch.type(t) == 'table' then
      local new = {}
      for key, value in pairs(t) do new[key] = recursive.recursiveNew(value) end
      return new
   elseif torch.isTensor(t) then
      return t.new()
   end
   mistaken(t)
end

function recursive.recursiveType(t, name)
   if torch.type(t) == 'table' then
      for i = 1, #t do t[i] = recursive.recursiveType(t[i], name) end
   elseif torch.isTensor(t) then
      return t:type(name)
   end
   return t
end

return recursive
