require 'torch'
local s = 'The quick brown fox'
print(s:len(), #s, s:upper(), s:lower(), s:sub(5, 9), s:sub(-3), s:sub(5), s:sub(0, 2), s:sub(2, 100), s:rep(2), s:reverse())
print(s:find('quick'), s:find('o'), s:find('zzz'), s:find('(%a+) (%a+)'), s:find('o', 14), s:find('.', 1, true))
print(s:match('(%a+)%s+(%a+)'), s:match('%d+'), s:match('q(.-)k'), s:match('^The'), ('key=val'):match('(%w+)=(%w+)'))
print(s:gsub('o', '0'), (s:gsub('%s', '_')), s:gsub('%a+', string.upper), s:gsub('(%a)(%a)', '%2%1', 2))
print(s:gsub('%a+', {The = 'A', fox = 'dog'}), s:gsub('q%a+', function(w) return '<' .. w .. '>' end))
for w in s:gmatch('%a+') do io.write(w, ',') end print()
for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do print(k, v) end
print(s:byte(1), s:byte(1, 3), string.char(72, 105), ('x'):byte())
print(string.format('%5d|%-5d|%05d|%+d', 42, 42, 42, 42))
print(string.format('%.3f %8.2f %e %g %g', 3.14159, 2.5, 12345.678, 1e20, 0.1))
print(string.format('%s %10s|%-10s| %q %%', 'a', 'b', 'c', 'd\n'))
print(string.format('%x %X %o %c %i', 255, 255, 8, 65, 7))
print(string.format('%s %s %s', nil, true, 1.5), ('%d items'):format(3), ('%s'):rep(2, nil))
print(string.format('%d', 3.0), string.format('%5.1f%%', 99.5), string.format('%s', 1e15), string.format('%.2s', 'abc'))
print('a' .. 1 .. 2.5 .. 'b', 1 .. '', 2 ^ 10 .. '', 10 / 4 .. '')
print('10' + 5, '3' * '4', 10 .. 20, '0x10' + 0, -'2')
print(tonumber('12'), tonumber('1e3'), tonumber('abc'), tonumber('ff', 16), tonumber('0x1F'), tonumber(' 5 '), tonumber(''), tonumber('12abc'))
print(tostring(12), tostring(1.5), tostring(nil), tostring(true), tostring(1e100), tostring(-0.0), tostring(1/0), tostring(2^53))
print('a' < 'b', 'a' < 'B', 'abc' == 'abc', 'a' ~= 'b', 'Z' < 'a')
local parts = {}
for i = 1, 5 do parts[#parts + 1] = ('%d'):format(i * i) end
print(table.concat(parts, ', '), table.concat(parts), table.concat(parts, '-', 2, 3), table.concat({1, 2.5, 'x'}, ' '))
print(#'tab\tnew\nline', 'esc\\aped "quotes" \'single\'', [[long
string]], [==[with ]] inside]==])
print(type(s), type(1), type(nil), type({}), type(print), type(torch.Tensor()), torch.type(torch.Tensor()), torch.typename('x'), torch.type(1))
local line = '  padded  '
print('[' .. line:gsub('^%s+', ''):gsub('%s+$', '') .. ']', line:match('^%s*(.-)%s*$') .. '|')
local path = '/data/set/image_0012.jpg'
print(path:match('([^/]+)$'), path:match('(.+)/'), path:match('%.(%w+)$'), path:match('_(%d+)%.'), tonumber(path:match('_(%d+)%.')))
print(('x'):rep(3, ','), ('abc'):sub(2, 2), ('abc'):sub(-2, -2), ('%5s|%-5s|'):format('ab', 'cd'))
print(os.date('%Y') ~= nil, type(os.time()), type(os.clock()), os.getenv('NOSUCHVAR'))
