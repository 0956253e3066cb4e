-- torch.Timer
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local getfenv = debug.getfenv

local function now() return {real = call(python.now), user = (call(python.process_time)), sys = (select(2, call(python.process_time)))} end

local mt, make
mt, make = t7.userdata_class('torch.Timer', nil, function()
   return make{running = true, start = now(), spent = {real = 0, user = 0, sys = 0}}
end)

local function elapsed(timer)
   local spent = timer.spent
   if not timer.running then return {real = spent.real, user = spent.user, sys = spent.sys} end
   local current, start = now(), timer.start
   local result = {}
   for key in pairs(spent) do result[key] = spent[key] + current[key] - start[key] end
   return result
end
local function state(u)
   if getmetatable(u) ~= mt then t7.typerror(1, 'torch.Timer', u) end
   return getfenv(u)
end
function mt.time(u) return elapsed(state(u)) end
function mt.reset(u)
   local timer = state(u)
   timer.spent, timer.start = {real = 0, user = 0, sys = 0}, now()
   return u
end
function mt.stop(u)
   local timer = state(u)
   timer.spent = elapsed(timer)
   timer.running = false
   return u
end
function mt.resume(u)
   local timer = state(u)
   if not timer.running then timer.running, timer.start = true, now() end
   return u
end
function mt.__tostring__(u)
   local timer = state(u)
   return ('torch.Timer [status: %s]'):format(timer.running and 'running' or 'stopped')
end
