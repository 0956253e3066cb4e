-- Tensors to numbers or smaller tensors.
local t7 = ...
local call, argerror = t7.call, t7.argerror
local k, ops, class_of_kind = t7.python.kernels, t7.ops, t7.class_of_kind
local getfenv = debug.getfenv
local kernel_tensor, numel, same_size = t7.kernel_tensor, t7.numel, t7.same_size
local compute_over, compute_along, computed = t7.compute_over, t7.compute_along, t7.computed

for _, name in ipairs{'cumsum', 'cumprod', 'sum', 'prod', 'mean', 'var', 'std', 'norm', 'histc', 'bhistc', 'renorm'} do
   t7.made(name)
end
for _, name in ipairs{'sum', 'mean'} do
   local full = ops[name]
   ops[name] = function(C, r, a, d) return r == nil and compute_along(name, getfenv(a), d) or full(C, r, a, d) end
end
for _, name in ipairs{'min', 'max'} do
   t7.paired(name)
   local full = ops[name]
   ops[name] = function(C, r, indices, a, d)
      if r == nil and indices == nil then
         local values, places = compute_along(name, getfenv(a), d, class_of_kind(C, 'Long'))
         if values then return values, places end
      end
      return full(C, r, indices, a, d)
   end
end

for _, name in ipairs{'sumall', 'prodall', 'minall', 'maxall', 'meanall', 'varall', 'stdall', 'normall', 'trace',
                      'logicalall', 'logicalany'} do
   local f = k[name]
   ops[name] = function(C, ...)
      return select('#', ...) == 1 and compute_over(name, getfenv((...))) or computed(f, ...)
   end
end
local norm = ops.normall
function ops.normall(C, a, p)
   return p == 2 and compute_over('normall', getfenv(a)) or norm(C, a, p)
end
function ops.dist(C, a, b, p)
   local s, t = getfenv(a), getfenv(b)
   if numel(s) ~= numel(t) then t7.inconsistent({'tensor', s}, {'src', t}) end
   return call(k.dist, kernel_tensor(s), kernel_tensor(t), p)
end
function ops.equal(C, a, b)
   local s, t = getfenv(a), getfenv(b)
   if not same_size(s, t) then return false end
   return s.n == 0 or call(k.equal, kernel_tensor(s), kernel_tensor(t))
end
function ops.numel(C, a) return numel(getfenv(a)) end
