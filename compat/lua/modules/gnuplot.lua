-- No plots here: each function says so once, and does nothing, so that the training goes on.
local told = false
gnuplot = setmetatable({}, {__index = function(t, name)
   local function f()
      if told then return end
      told = true
      io.stderr:write('gnuplot.', tostring(name), ': plots are not drawn here; save the numbers and draw them elsewhere\n')
   end
   rawset(t, name, f)
   return f
end})
return gnuplot
