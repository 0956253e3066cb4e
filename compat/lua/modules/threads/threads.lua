-- threads.Threads: jobs run in threads, each with a Lua of its own; what they give comes back to callbacks here.
local t7 = torch._t7
local py = t7.import('compat.lua.workers')
local accepts, add, collect, set_specific, stop, join = py.accepts, py.add, py.collect, py.set_specific, py.stop, py.join

local Threads = {__serialize = 'threads.serialize'}
Threads.__index = Threads

function Threads.serialization(name)
   if not name then return Threads.__serialize end
   assert(type(name) == 'string')
   Threads.__serialize = name
end

-- What each thread runs.
local WORKER = [[
local pool, id, serialize = ...
require 'torch'
__threadid = id
local py = torch._t7.import('compat.lua.workers')
local take, give = py.take, py.give
serialize = require(serialize)
local function pack(...) return {n = select('#', ...), ...} end
while true do
   local job = take(pool, id)
   if job == nil then break end
   local number
   local results = pack(xpcall(function()
      local loaded = serialize.load(job)
      job = nil
      number = loaded.number
      return loaded.callback(unpack(loaded.args, 1, loaded.args.n))
   end, function(message)
      return type(message) == 'string' and debug.traceback(message, 2) or message
   end))
   local ok, packed = pcall(serialize.save, {results = results, number = number, id = id})
   if not ok then
      packed = serialize.save{results = {n = 2, false, tostring(packed)}, number = number, id = id}
   end
   results = nil
   give(pool, packed)
end
]]

local function nothing() end
local pools = setmetatable({}, {__mode = 'k'})

-- At the end of a script: what was begun is done.
function Threads.finish()
   for pool in pairs(pools) do pcall(pool.terminate, pool) end
end

function Threads.new(n, ...)
   assert(type(n) == 'number' and n >= 1, 'number of threads expected')
   local self = setmetatable({N = n, endcallbacks = {n = 0}, errors = false, __running = true, __specific = true}, Threads)
   self.serialize = require(Threads.__serialize)
   self.pool = py.start_pool(t7.python.this_runtime(), n, WORKER, Threads.__serialize)

   self.owner = py.owner(self.pool)
   pools[self] = true
   local results = {}
   local inits = {...}
   if #inits == 0 then inits[1] = nothing end
   for j, init in ipairs(inits) do
      for i = 1, n do
         self:addjob(i, init, j == #inits and function(...) table.insert(results, {...}) end or nothing, i)
      end
   end
   self:specific(false)
   return self, results
end

function Threads:isrunning() return self.__running end
local function check_running(self) assert(self.__running, 'thread system is not running') end

function Threads:specific(on)
   check_running(self)
   if on == nil then return self.__specific end
   assert(type(on) == 'boolean', 'boolean expected')
   self:synchronize()
   self.__specific = on
   set_specific(self.pool, on)
end

function Threads:dojob()
   check_running(self)
   self.errors = false
   local message = self.serialize.load(collect(self.pool))
   local number = message.number or 0   -- that of a job which its thread cannot read is not known
   local endcallback = self.endcallbacks[number]
   self.endcallbacks[number] = nil
   self.endcallbacks.n = self.endcallbacks.n - 1
   local results = message.results
   if not results[1] then
      self.errors = true
      error(string.format('[thread %d callback] %s', message.id, tostring(results[2])))
   end
   local ok, text = xpcall(function() return endcallback(unpack(results, 2, results.n)) end, debug.traceback)
   if not ok then
      self.errors = true
      error(string.format('[thread %d endcallback] %s', message.id, text))
   end
end

local function check_index(self, index)
   if self.__specific then
      assert(type(index) == 'number' and index >= 1 and index <= self.N, 'thread index expected')
   end
end

function Threads:acceptsjob(index)
   check_running(self)
   check_index(self, index)
   return accepts(self.pool, self.__specific and index or nil)
end

local function add_job(self, index, callback, endcallback, ...)
   assert(type(callback) == 'function', 'function callback expected')
   assert(type(endcallback) == 'function' or endcallback == nil, 'function (or nil) endcallback expected')
   while not self:acceptsjob(index) do self:dojob() end
   local number = #self.endcallbacks + 1
   local job = self.serialize.save{callback = callback, number = number, args = {n = select('#', ...), ...}}
   self.endcallbacks[number] = endcallback or nothing
   self.endcallbacks.n = self.endcallbacks.n + 1
   add(self.pool, index, job)
end
function Threads:addjob(...)
   check_running(self)
   self.errors = false
   if not self.__specific then return add_job(self, nil, ...) end
   check_index(self, (...))
   return add_job(self, ...)
end

function Threads:haserror() return false end
function Threads:hasjob()
   check_running(self)
   return self.endcallbacks.n > 0
end
function Threads:synchronize()
   if not self.__running then return end
   self.errors = false
   while self:hasjob() do self:dojob() end
end

function Threads:terminate()
   if not self.__running or self.errors then return end
   local ok, message = pcall(self.synchronize, self)
   self.__running = false
   stop(self.pool)
   join(self.pool)
   if not ok then error(message) end
end

return setmetatable({}, {__index = Threads, __newindex = Threads, __call = function(_, ...) return Threads.new(...) end})
