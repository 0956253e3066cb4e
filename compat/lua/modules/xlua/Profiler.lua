-- xlua.Profiler: processor and wall-clock times between start and lap, by name.
local Profiler = {}

function xlua.Profiler(mode, verbose)
   local self = {events = {}, list = {}, off = mode == 'off', verbose = verbose or false}
   for name, method in pairs(Profiler) do self[name] = method end
   return self
end

function Profiler:start(name, fps)
   local event = self.events[name]
   if not event then
      event = {name = name}
      self.events[name] = event
      table.insert(self.list, event)
   end
   event.cpu, event.real = os.clock(), sys.clock()
   if fps == 'fps' then event.fps = true end
   if self.verbose then
      io.write('<' .. name .. '>')
      io.flush()
   end
end
function Profiler:setColor(name, color)
   if not self.events[name] then error('# ERROR: There is no such profiler - ' .. name .. ', create it first') end
   self.events[name].color = color
end

local function since(event, kind, clock, divider)
   local seconds = (clock() - event[kind]) / (divider or 1)
   event[kind .. 'd'] = seconds
   return seconds
end
function Profiler:cpu(name, divider) return since(self.events[name], 'cpu', os.clock, divider) end
function Profiler:real(name, divider) return since(self.events[name], 'real', sys.clock, divider) end
function Profiler:lap(name, divider)
   local real, cpu = self:real(name, divider), self:cpu(name, divider)
   if self.verbose then
      io.write('\r')
      self:print(name)
   end
   return real, cpu
end

function Profiler:format(name)
   local event = self.events[name]
   return ('$ real | cpu: %f | %f <%s>'):format(event.reald or -1, event.cpud or -1, name)
end
function Profiler:print(name)
   if not self.off then print(self:format(name)) end
end
local function line(event)
   local text = ('$ real %f | cpu %f <%s>'):format(event.reald or -1, event.cpud or -1, event.name)
   return event.fps and text .. (' = %f fps'):format(1 / event.reald) or text
end
function Profiler:formatAll()
   local lines = {'$ profiler report:'}
   for _, event in ipairs(self.list) do lines[#lines + 1] = line(event) end
   return table.concat(lines, '\n')
end
function Profiler:printAll()
   if not self.off then print(self:formatAll()) end
end
