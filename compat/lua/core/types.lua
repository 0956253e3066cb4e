-- The types of tensors, and all that belongs to each.
local t7 = ...
local torch = t7.torch

local function make(kind, real, accreal, ctype, esize, integer, host)
   local C = t7.new_type(kind, real, accreal, ctype, esize, integer, host)
   t7.equip(C)
   t7.lua_methods(C)
   t7.element_functions(C)
   t7.structures(C)
   t7.operators(C)
   return C
end

local TYPES = {
   {'Byte', 'unsigned char', 'long', 'uint8_t', 1, true},
   {'Char', 'char', 'long', 'int8_t', 1, true},
   {'Short', 'short', 'long', 'int16_t', 2, true},
   {'Int', 'int', 'long', 'int32_t', 4, true},
   {'Long', 'long', 'long', 'int64_t', 8, true},
   {'Float', 'float', 'double', 'float', 4, false},
   {'Half', 'half', 'float', nil, 2, false},
   {'Double', 'double', 'double', 'double', 8, false},
}
for _, t in ipairs(TYPES) do make(unpack(t, 1, 6)) end

-- What Torch7's own test, which it loads, adds to halves: each gives a new tensor, and leaves its own as it is.
local half = t7.class_named.Half.mt
function half.__sub(a, b) return (a:real() - b:real()):half() end
function half.mean(self, dim) return self:real():mean(dim):half() end
function half.abs(self) return self:real():abs():half() end
function half.max(self) return self:real():max() end
function half.add(self, a, b) return self:real():add(a, b:real()):half() end
function half.reshape(self, a, b) return self:real():reshape(a, b):half() end
function half.fill(self, a) return self:real():fill(a):half() end

-- The types for GPUs, which come with cutorch: f is called with each, and the name of the method that converts to it.
function t7.make_cuda_types(f)
   for _, t in ipairs(TYPES) do
      local kind, real, accreal, ctype, esize, integer = unpack(t, 1, 6)
      local suffix = kind == 'Float' and '' or kind
      local C = make('Cuda' .. suffix, real, accreal, ctype, esize, integer, t7.class_named[kind])
      t7.file_methods(C)
      f(C, 'cuda' .. suffix)
   end
end

for _, kind in ipairs{'Byte', 'Char'} do
   local smt = t7.class_named[kind].smt
   rawset(smt, 'string', function(u, ...)
      local text = ...
      if type(text) == 'string' or type(text) == 'number' then
         t7.set_storage_string(debug.getfenv(u), tostring(text))
         return u
      end
      return t7.storage_string(debug.getfenv(u))
   end)
end
torch._gen = t7.make_generator(nil)
torch.setdefaulttensortype('torch.DoubleTensor')
