-- The types of tensors, and all that belongs to each.
local t7 = ...
local torch = t7.torch

local function make(kind, real, accreal, ctype, esize, integer)
   local C = t7.new_type(kind, real, accreal, ctype, esize, integer)
   t7.equip(C)
   t7.lua_methods(C)
   t7.element_functions(C)
   t7.structures(C)
   t7.operators(C)
   return C
end
t7.make_type = make

make('Byte', 'unsigned char', 'long', 'uint8_t', 1, true)
make('Char', 'char', 'long', 'int8_t', 1, true)
make('Short', 'short', 'long', 'int16_t', 2, true)
make('Int', 'int', 'long', 'int32_t', 4, true)
make('Long', 'long', 'long', 'int64_t', 8, true)
make('Float', 'float', 'double', 'float', 4, false)
make('Half', 'half', 'float', nil, 2, false)
make('Double', 'double', 'double', 'double', 8, false)

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
