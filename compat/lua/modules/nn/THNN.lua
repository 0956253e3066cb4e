-- Torch7's nn.THNN: the functions of the C library, computed by PyTorch.
local t7 = torch._t7
local THNN = {kernels = {}, C = t7.ffi and t7.ffi.C}

if t7.ffi then
   t7.ffi.cdef[[
      typedef void THNNState;
      typedef struct {
         unsigned long the_initial_seed;
         int left, seeded;
         unsigned long next, state[624];
         double normal_x, normal_y, normal_rho;
         int normal_is_valid;
      } THGenerator;
   ]]
end

function THNN.getState() end
function THNN.optionalTensor(t) return t and t:cdata() or THNN.NULL end

-- The functions of these names that a library has for a type, as THNN.kernels has them.
function THNN.bind(library, names, kind, state_getter)
   local functions = {}
   for _, name in ipairs(names) do
      local f = library['THNN_' .. kind .. name]
      functions[name] = function(...) return f(state_getter(), ...) end
   end
   return functions
end

function THNN.runKernel(name, type, ...)
   local functions = THNN.kernels[type] or error('Unsupported tensor type: ' .. type)
   local f = functions[name] or error(string.format("Function '%s' not found for tensor type '%s'.", name, type))
   f(...)
end

-- Has tensors of a type know their functions.
function THNN.install(kind)
   local C = t7.class_named[kind]
   THNN.kernels[C.name] = t7.thnn(C)
   rawset(C.mt, 'THNN', t7.thnn(C))
end
THNN.install('Float')
THNN.install('Double')

return THNN
