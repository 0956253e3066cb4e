-- Measuring in Lua: of a table of programs, the time of a step of each, made once; for Python, or asked line by line.
local sys = require 'sys'
local serve = {clocks = {cpu = os.clock, wall = sys.clock}}

-- Seconds for a step of what makers[name](...) made, the first time it was asked for, from these numbers.
function serve.steps(makers)
   local made = {}
   return function(clock, name, ...)
      local key = table.concat({name, ...}, ' ')
      if not made[key] then
         local numbers = {}
         for i, number in ipairs({...}) do numbers[i] = tonumber(number) end
         made[key] = makers[name](unpack(numbers))
      end
      local start = serve.clocks[clock]()
      made[key]()
      return serve.clocks[clock]() - start
   end
end

-- Answers each line of the input, `KIND WORD ...`, with measure[KIND](WORD, ...).
function serve.lines(measure)
   for line in io.stdin:lines() do
      local words = {}
      for word in line:gmatch('%S+') do table.insert(words, word) end
      print(string.format('%.12f', measure[words[1]](unpack(words, 2))))
      io.stdout:flush()
   end
end

return serve
