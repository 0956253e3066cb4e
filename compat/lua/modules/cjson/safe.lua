-- lua-cjson's functions that give nil and the error's text in place of errors.
local function safe(cjson)
   local functions = {}
   for name, value in pairs(cjson) do functions[name] = value end
   for _, name in ipairs{'encode', 'decode'} do
      functions[name] = function(...)
         local ok, result = pcall(cjson[name], ...)
         if ok then return result end
         return nil, result
      end
   end
   function functions.new() return safe(cjson.new()) end
   return functions
end
return safe(require('cjson').new())
