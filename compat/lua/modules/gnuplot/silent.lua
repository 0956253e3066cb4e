-- A package that draws, without the drawing: its functions say so once, and do nothing, so that the training goes on.
return function(name, hint)
   local told = false
   return setmetatable({}, {__index = function(package, key)
      local function f()
         if told then return end
         told = true
         io.stderr:write(name, '.', tostring(key), ': ', hint, '\n')
      end
      rawset(package, key, f)
      return f
   end})
end
