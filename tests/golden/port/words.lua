-- counting words, sorting, joining
local text = [[the quick brown fox jumps over the lazy dog
the dog sleeps, the fox does not]]
local counts, order = {}, {}
for word in text:gmatch('%a+') do
   if not counts[word] then
      counts[word] = 0
      order[#order + 1] = word
   end
   counts[word] = counts[word] + 1
end
table.sort(order, function(a, b)
   if counts[a] ~= counts[b] then return counts[a] > counts[b] end
   return a < b
end)
for i = 1, 4 do print(i, order[i], counts[order[i]]) end
print(#order, table.concat(order, ' ', 1, 3))
local lines = {}
for line in (text .. '\n'):gmatch('(.-)\n') do table.insert(lines, line) end
print(#lines, #lines[1], lines[2]:sub(1, 7), lines[2]:upper():sub(-3))
print(text:gsub('the', 'a'))
print(('a,b,,c'):find(','), ('key=value'):match('(%w+)=(%w+)'))
