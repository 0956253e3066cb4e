-- Torch7's package threads.
require 'torch'
local t7 = torch._t7
local py = t7.import('compat.lua.workers')
local share, release = py.share, py.release

-- A class whose objects are known in all threads by their number.
local function shared_class(kind, methods)
   methods.__index = methods
   function methods:id() return self.number end
   function methods:free()
      if self.number then release(self.number) end
      self.number = nil
   end
   return function(number) return setmetatable({number = share(kind, number)}, methods) end
end

local lock, unlock, wait, signal = py.lock, py.unlock, py.wait_signal, py.signal
local threads = {
   Mutex = shared_class('mutex', {
      lock = function(self) lock(self.number) end,
      unlock = function(self) unlock(self.number) end,
   }),
   Condition = shared_class('condition', {
      wait = function(self, mutex) wait(self.number, mutex.number) end,
      signal = function(self) signal(self.number) end,
   }),
   Threads = require 'threads.threads',
   safe = require 'threads.safe',
}

local start, join = py.start, py.wait
function threads.Thread(code)
   local thread = start(t7.python.this_runtime(), code)
   return {free = function() join(thread) end}
end

-- `threads(4)` and `threads.serialization` are old forms.
return setmetatable(threads, getmetatable(threads.Threads))
