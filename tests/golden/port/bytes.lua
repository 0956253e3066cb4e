-- Characters are bytes, in files and in strings.
local name = os.tmpname()
local f = io.open(name, 'w')
f:write('h\195\169llo w\195\182rld\n', string.char(200, 10))
f:close()
f = io.open(name, 'r')
local text = f:read('*all')
f:close()
print(#text, text:byte(2, 3))
local vocab, n = {}, 0
for c in text:gmatch('.') do if not vocab[c] then vocab[c] = true n = n + 1 end end
print(n, #text:sub(1, 3))
for i = 1, #text do io.write(text:sub(i, i):byte(), ' ') end
print()
print(text:sub(1, 6))
print(string.char(195, 169), #string.char(195, 169), string.char(104, 105))
for line in io.lines(name) do print(#line) end
require 'torch'
local x = torch.ByteTensor(#text)
for i = 1, #text do x[i] = text:byte(i) end
print(x:sum(), x:max())
local s = {}
for i = 1, 6 do s[i] = string.char(x[i]) end
print(table.concat(s))
os.remove(name)
