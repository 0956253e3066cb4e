require 'torch'
require 'xlua'
for _, t in ipairs{0, 0.0004, 0.5, 1, 61.2, 3600, 3661, 90000, 86400 * 3 + 5} do io.write(xlua.formatTime(t), ' ') end
print()
print(xlua.table2string{1, 'a"b', {3}}, xlua.table2string({1, 2}, true))
local a, b = table.splice({1, 2, 3, 4}, 2, 2)
print(table.concat(a, ','), table.concat(b, ','), table.concat(('a,b,,c'):split(','), '|'), string.tosymbol('math.pi'))
local function f(...)
   local args, x, y, z = xlua.unpack({...}, 'f', 'does it',
      {arg = 'x', type = 'number', help = 'the x', req = true},
      {arg = 'y', type = 'number', help = 'the y', default = 3},
      {arg = 'z', type = 'number', help = 'z', defaulta = 'y'})
   return x, y, z, args.x
end
print(f(1))
print(f{x = 2, y = 5})
print((pcall(f, {y = 1})))
print((pcall(f)))
print(xlua.usage('g', 'desc', nil, {type = 'number', help = 'h', req = true}, '', {type = 'string', help = 's'}))
local m = {}
print(xlua.usage_module(m, 'n', 'd'))
print(tostring(m))
xlua.print(3)
xlua.print('a', 'b')
xlua.print{5}
arg = {[0] = 'x.lua', '--lr=0.5', 'pos', '-v'}
local op = xlua.OptionParser('%prog [options]')
op:option{'-l', '--lr', dest = 'lr', help = 'rate', default = 1, action = 'store'}
op:option{'-v', '--verbose', dest = 'v', action = 'store_true', help = 'talk'}
local o, r = op:parse()
print(o.lr, o.v, r[1], o.__main__)
op:help()
print(op:tostring(true, {}))
local p = xlua.Profiler()
p:start('a')
p:lap('a')
print((p:format('a'):gsub('%d', '')))
local sys = require 'sys'
for _, c in ipairs{{'a,b,,c', ','}, {',a', ','}, {'', ','}, {'abc', '%s'}, {'a b  c ', '%s+'}} do
   print(table.concat(sys.split(c[1], c[2]), '|'))
end
print(sys.OS, sys.execute('echo  hi; echo there '), sys.fexecute('echo x'), select(2, sys.fpath()), sys.isNaN(0 / 0))
local colors = {}
for name, text in pairs(sys.COLORS) do colors[#colors + 1] = name .. text:gsub('\27', '') end
table.sort(colors)
print(table.concat(colors, ' '))
