-- A function that runs in one thread at a time.
return function(f, mutex)
   local threads = require 'threads'
   assert(type(f) == 'function', 'function, [mutex] expected')
   mutex = mutex or threads.Mutex()
   local id = mutex:id()
   return function(...)
      local threads = require 'threads'
      local mutex = threads.Mutex(id)
      mutex:lock()
      local results = {n = select('#', ...), pcall(f, ...)}
      mutex:unlock()
      mutex:free()
      if not results[1] then error(results[2], 0) end
      return unpack(results, 2, table.maxn(results))
   end
end
