-- String patterns as scripts use them
local line = 'epoch = 12, loss = 0.345, name = "net_a.t7"'
print(line:match('epoch = (%d+)'), line:match('loss = ([%d%.]+)'), line:match('"(.-)"'))
for k, v in line:gmatch('(%w+) = ([^,]+)') do io.write(k, '->', v, ';') end
print()
print(('  trim me  '):gsub('^%s+', ''):gsub('%s+$', '') .. '|')
print((('  trim me  '):gsub('^%s*(.-)%s*$', '%1')))
print(('a-b-c'):gsub('-', '+'))
print(('hello world'):gsub('o', {o = '0'}))
print(('hello'):gsub('l', function(c) return c:upper() end))
print(('hello'):gsub('', '.'))
print(('abc'):gsub('%w', '%0%0'))
print(('x = 1'):match('^(%w+)%s*=%s*(%w+)$'))
print(('key: value'):find(':'), ('key: value'):find('%s'), ('a.b'):find('.', 1, true))
print(('/path/to/file.tar.gz'):match('([^/]+)$'), ('/path/to/file.tar.gz'):match('^(.*)/'), ('file.tar.gz'):match('%.([^%.]+)$'))
local function split(s, sep)
   local out = {}
   for piece in (s .. sep):gmatch('(.-)' .. sep:gsub('%p', '%%%0')) do out[#out + 1] = piece end
   return out
end
local parts = split('a,b,,c', ',')
print(#parts, parts[1], parts[3] == '', parts[4])
local words = {}
for w in ('the quick brown fox'):gmatch('%a+') do table.insert(words, w) end
print(#words, words[4])
for c in ('abc'):gmatch('.') do io.write(c, '.') end
print()
for i = 1, #'abc' do io.write(('abc'):sub(i, i), '_') end
print()
print(('abc'):byte(), ('abc'):byte(2), ('abc'):byte(1, 3))
print(string.char(72, 101, 108), ('x'):byte() + 1)
print(('%d items'):format(3), ('%5.1f|'):format(2.345))
print(('test'):len(), #'test', ('abc'):reverse(), ('abc'):sub(-2), ('abc'):sub(2, -2), ('abc'):sub(5))
print(tostring(12):rep(2), (5 .. ''):len())
print(('CamelCaseWord'):gsub('(%u)', ' %1'))
print(('1,2,3'):gsub(',', ';', 1))
print(('f(a, b)'):match('%((.-)%)'), ('[tag]'):match('%[(.*)%]'))
print(('2016-03-04'):match('(%d+)-(%d+)-(%d+)'))
print(('%bxy'):len(), ('f(a(b)c)d'):match('%b()'))
print(('THE (quick) fox'):find('%((%a+)%)'))
print(string.format('%-10s|%10s|', 'left', 'right'))
print(('a b c'):gsub(' ', '_'))
print(('x'):rep(0) == '', ('ab'):rep(2, '-'))
print(os.date('%Y-%m-%d', 0), type(os.time()), os.time{year = 2015, month = 6, day = 1, hour = 12} - os.time{year = 2015, month = 5, day = 31, hour = 12})
print(('%s=%s'):format('k', true), ('%s'):format(nil), ('%s'):format(1.5))
print(tostring(nil) .. tostring(true) .. 1 .. 1.5 .. 2^31)
print(('x1y22z333'):gsub('%d+', function(d) return '<' .. #d .. '>' end))
print(('hello world from lua'):gsub('(%w+) (%w+)', '%2 %1'))
print(('abc'):find('b', 1, true), ('abc'):find('z'), ('a+b'):find('+', 1, true))
print(('key=val'):match('(%w+)=(%w*)'), ('key='):match('(%w+)=(%w*)'))
print(('\tx\n'):gsub('%c', '?'))
print(('0x1F'):match('^0[xX](%x+)$'), ('abc123'):match('%a+()'))
