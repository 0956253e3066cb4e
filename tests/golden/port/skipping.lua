-- leaving out steps, early ends, nil tests
local function find(t, what)
   for i, v in ipairs(t) do
      if v == what then return i end
   end
   return nil
end
local names = {'x', 'y', 'z'}
for _, w in ipairs{'y', 'q', 'x'} do
   local at = find(names, w)
   if not at then
      print(w .. ' is missing')
      goto continue
   end
   print(w, at)
   ::continue::
end
local tries, limit = 0, 7
repeat
   tries = tries + 1
   local done = tries * tries > limit
until done
print(tries)
local x = 0
local y = x or 5
local flag = false
local z = flag and 'yes' or 'no'
local given = nil
local default = given or {1, 2}
print(y, z, #default, x == 0 and 'zero' or 'more')
local i = 10
while true do
   i = i - 3
   if i < 0 then break end
end
print(i, 7 % 3, -7 % 3, 2 ^ 0.5 > 1.41, 10 / 4, math.floor(10 / 4), 1e3)
