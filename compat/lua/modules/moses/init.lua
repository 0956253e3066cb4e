-- Moses 1.6: functions on tables. Those of callbacks that go over a table get (key, value).
local moses = {_VERSION = 'Moses 1.6.0'}
for _, part in ipairs{'collections', 'arrays', 'functions', 'objects'} do require('moses.' .. part)(moses) end

local OTHER_NAMES = {
   forEach = 'each', forEachi = 'eachi', loop = 'cycle', collect = 'map', inject = 'reduce', foldl = 'reduce',
   injectr = 'reduceRight', foldr = 'reduceRight', mapr = 'mapReduce', maprr = 'mapReduceRight', any = 'include',
   some = 'include', contains = 'include', filter = 'select', discard = 'reject', every = 'all',
   takeWhile = 'selectWhile', rejectWhile = 'dropWhile', shift = 'pop', remove = 'pull', rmRange = 'removeRange',
   chop = 'removeRange', sub = 'slice', head = 'first', take = 'first', tail = 'rest', skip = 'last',
   without = 'difference', diff = 'difference', symdiff = 'symmetricDifference', xor = 'symmetricDifference',
   uniq = 'unique', isuniq = 'isunique', transpose = 'zip', part = 'partition', perm = 'permutation',
   mirror = 'invert', join = 'concat', cache = 'memoize', juxt = 'juxtapose', uid = 'uniqueId', iter = 'iterator',
   methods = 'functions', choose = 'pick', drop = 'omit', defaults = 'template', compare = 'isEqual',
}
for name, same in pairs(OTHER_NAMES) do moses[name] = moses[same] end

function moses.import(context, keep)
   context = context or _G
   for name, f in pairs(moses) do
      if type(f) == 'function' and not (keep and rawget(context, name) ~= nil) then context[name] = f end
   end
   return context
end

-- `moses.chain(t):map(f):value()`, or `moses(t)…`
local Chain = {}
local function wrapped(value) return setmetatable({_value = value, _wrapped = true}, Chain) end
local function value_of(x) return type(x) == 'table' and rawget(x, '_wrapped') and x._value or x end
Chain.__index = function(_, name)
   if name == 'value' then return value_of end
   local f = moses[name]
   return f and function(self, ...) return wrapped(f(value_of(self), ...)) end
end
moses.chain = wrapped
moses.value = value_of
return setmetatable(moses, {__call = function(_, value) return wrapped(value) end})
