-- The prototype style of "Programming in Lua", mixins, singletons, private state
local Base = {name = 'base', count = 0}
function Base:new(o)
   o = o or {}
   setmetatable(o, self)
   self.__index = self
   return o
end
function Base:hello() return 'hello from ' .. self.name end
function Base:inc(k) self.count = self.count + (k or 1) return self.count end
local a = Base:new{name = 'a'}
local b = Base:new()
print(a:hello(), b:hello(), a:inc(), a:inc(5), b.count)
local Derived = Base:new{name = 'derived'}
function Derived:hello() return Base.hello(self) .. '!' end
local d = Derived:new{extra = 1}
print(d:hello(), d:inc(), Derived.count, d.extra)
local M = {}
local hidden = 0
function M.bump() hidden = hidden + 1 return hidden end
M.version = '1.0'
M.list = {}
function M.add(x) table.insert(M.list, x) return #M.list end
print(M.bump(), M.bump(), M.version, M.add('x'), M.add('y'), M.list[2])
local handlers = {}
handlers.start = function(x) return 'start ' .. x end
handlers['stop'] = function(x) return 'stop ' .. x end
function handlers.pause(x) return 'pause ' .. x end
for _, name in ipairs{'start', 'stop', 'pause'} do io.write(handlers[name](1), ' ') end
print(handlers.none == nil)
local Stack = {}
Stack.__index = Stack
function Stack.new() return setmetatable({n = 0}, Stack) end
function Stack:push(...) for _, v in ipairs{...} do self.n = self.n + 1 self[self.n] = v end return self end
function Stack:pop() local v = self[self.n] self[self.n] = nil self.n = self.n - 1 return v end
function Stack:__tostring() return 'Stack(' .. self.n .. ')' end
local s = Stack.new():push(1, 2, 3)
print(s:pop(), s:pop(), s.n, tostring(s))
local Vec = {}
Vec.__index = Vec
local function vec(x, y) return setmetatable({x = x, y = y}, Vec) end
function Vec.__add(a, b) return vec(a.x + b.x, a.y + b.y) end
function Vec.__mul(a, b) if type(a) == 'number' then return vec(a * b.x, a * b.y) end return a.x * b.x + a.y * b.y end
function Vec.__eq(a, b) return a.x == b.x and a.y == b.y end
function Vec.__unm(a) return vec(-a.x, -a.y) end
function Vec.__tostring(v) return '(' .. v.x .. ', ' .. v.y .. ')' end
function Vec:len() return math.sqrt(self.x ^ 2 + self.y ^ 2) end
local u, v = vec(3, 4), vec(1, 2)
print(tostring(u + v), u * v, tostring(2 * u), u == vec(3, 4), tostring(-u), u:len())
local readonly = setmetatable({}, {__index = {a = 1}, __newindex = function(t, k, v) error('read only', 0) end})
print(readonly.a, pcall(function() readonly.b = 2 end))
