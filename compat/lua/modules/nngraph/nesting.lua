-- Tensors in nested tables, as nodes of a graph pass them on.
local nesting = {}
local is_tensor = torch.isTensor

function nesting.cloneNested(object)
   if is_tensor(object) then return object:clone() end
   local copy = {}
   for key, child in pairs(object) do copy[key] = nesting.cloneNested(child) end
   return copy
end

function nesting.fillNested(object, value)
   if is_tensor(object) then object:fill(value) return end
   for _, child in pairs(object) do nesting.fillNested(child, value) end
end

function nesting.addNestedTo(output, input)
   if is_tensor(output) then output:add(input) return end
   for key, child in pairs(input) do nesting.addNestedTo(assert(output[key], 'missing key'), child) end
end

-- Calls f(key) for the entries of `output` that `input` lacks.
local function each_other(output, input, f)
   for key in pairs(output) do
      if input[key] == nil then f(key) end
   end
end

function nesting.copyNested(output, input)
   if is_tensor(output) then output:copy(input) return end
   for key, child in pairs(input) do nesting.copyNested(output[key], child) end
   each_other(output, input, function(key) error('key ' .. tostring(key) .. ' present in output but not in input') end)
end

function nesting.resizeNestedAs(output, input)
   if is_tensor(output) then output:resizeAs(input) return end
   for key, child in pairs(input) do
      if output[key] then nesting.resizeNestedAs(output[key], child)
      else output[key] = nesting.cloneNested(child) end
   end
   each_other(output, input, function(key) output[key] = nil end)
end

return nesting
