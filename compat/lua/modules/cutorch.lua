-- Torch7's package cutorch: devices that are given, and the types of tensors on them. Where the current device is a CPU, so
-- is the memory of what is made then, and the types are what they are called.
require 'torch'
local t7 = torch._t7
t7.load_classes()
local functions = t7.functions('compat.cutorch')
-- They were C: numbers may be given as strings, as those of a command line are.
local function number(value) return type(value) == 'string' and tonumber(value) or value end
local function numbers(value, ...)
   if select('#', ...) == 0 then return number(value) end
   return number(value), numbers(...)
end
cutorch = setmetatable({}, {__index = function(self, name)
   local f = functions[name]
   if type(f) ~= 'function' then return f end
   self[name] = function(...)
      if select('#', ...) == 0 then return f() end
      return f(numbers(...))
   end
   return self[name]
end})
torch._cutorch = true
cutorch.hasHalf = true
-- What PyTorch does by itself: memory is counted, handles are made, devices read each other where they can.
for _, name in ipairs{'setHeapTracking', 'reserveBlasHandles', 'setBlasHandle', 'setPeerToPeerAccess',
                      'setKernelPeerToPeerAccess'} do
   cutorch[name] = function() end
end
function cutorch.getNumBlasHandles() return 1 end
cutorch.getBlasHandle, cutorch.getKernelPeerToPeerAccess = cutorch.getNumBlasHandles, cutorch.getPeerToPeerAccess
function cutorch.hasHalfInstructions() return cutorch.hasHalf end
cutorch.hasFastHalfInstructions = cutorch.hasHalfInstructions
local wanted = tonumber(os.getenv('T7_NGPU') or '')
if wanted then
   local devices = {}
   for i = 1, wanted do devices[i] = 'cpu' end
   functions.configure(devices)
end
function cutorch.getDeviceProperties(i) return functions.getDeviceProperties(i) end
-- As many results as the function gives.
function cutorch.withDevice(device, f)
   local before = cutorch.getDevice()
   cutorch.setDevice(device)
   local results = {pcall(f)}
   cutorch.setDevice(before)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2)
end

local converters = {}
-- The GPU id of the device that has the numbers of a storage, 0 if there are none yet.
local function device_of(rec) return rec and rec.base and t7.call(t7.objects.gpu_of, rec.base) or 0 end

local function get_device(tensor) return device_of(debug.getfenv(tensor).rec) end

t7.make_cuda_types(function(C, converter)
   converters[converter] = C.name
   local mt, smt, host = C.mt, C.smt, C.host
   -- Functions of Lua are applied on the CPU, and numbers listed there.
   for _, name in ipairs{'apply', 'map', 'map2'} do
      rawset(mt, name, function(self, a, b, f)
         local function here(x) return torch.isTensor(x) and x:type(host.name) or x end
         local x = here(self)
         x[name](x, here(a), here(b), f)
         return self:copy(x)
      end)
   end
   rawset(mt, 'totable', function(self) return self:type(host.name):totable() end)
   rawset(mt, 'getDevice', get_device)
   rawset(smt, 'getDevice', function(self) return device_of(debug.getfenv(self)) end)
end)
for _, C in pairs(t7.class_named) do
   if t7.tells_types == false then rawset(C.mt, 'getDevice', get_device) end
   for method, name in pairs(converters) do rawset(C.mt, method, function(self) return self:type(name) end) end
end
-- From now on Python is told which of two types a tensor on the CPU is of, unless it knows none.
if t7.tells_types == nil then
   t7.tells_types = true
   t7.call(t7.load_classes().declare_types)
end
return cutorch
