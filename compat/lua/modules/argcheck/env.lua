-- What argcheck takes for the type of a value. Scripts may put other functions here.
require 'torch'

local env = {}

-- Torch7's classes fit the names of their parents, and patterns such as `torch.*Tensor`.
function env.istype(value, wanted)
   if wanted == '*' then return true end
   local kind = torch.typename(value)
   if not kind then return type(value) == wanted end
   local class = torch.getmetatable(kind)
   repeat
      local match = kind:match(wanted)
      if match and (match ~= wanted or match == kind) then return true end
      class = class and getmetatable(class)
      kind = class and rawget(class, '__typename')
   until not kind
   return false
end

function env.type(value) return torch.type(value) end

return env
