-- The library bit32 of Lua 5.2: operations on the bits of 32-bit numbers without sign.
local ok, bit = pcall(require, 'bit')
local bit32, WORD = {}, 2 ^ 32

local function word(x) return math.floor(x) % WORD end

local function bits(x, y, rule)
   local result, place = 0, 1
   while x > 0 or y > 0 do
      local a, b = x % 2, y % 2
      if rule(a, b) then result = result + place end
      x, y, place = (x - a) / 2, (y - b) / 2, place * 2
   end
   return result
end
local RULES = {
   band = function(a, b) return a == 1 and b == 1 end,
   bor = function(a, b) return a == 1 or b == 1 end,
   bxor = function(a, b) return a ~= b end,
}
for name, rule in pairs(RULES) do
   local start = name == 'band' and WORD - 1 or 0
   local both = ok and function(x, y) return bit[name](x, y) % WORD end or function(x, y) return bits(x, y, rule) end
   bit32[name] = function(...)
      local result = start
      for i = 1, select('#', ...) do result = both(result, word((select(i, ...)))) end
      return result
   end
end
function bit32.bnot(x) return WORD - 1 - word(x) end
function bit32.btest(...) return bit32.band(...) ~= 0 end

function bit32.lshift(x, n)
   if n < 0 then return bit32.rshift(x, -n) end
   return n < 32 and word(word(x) % 2 ^ (32 - n) * 2 ^ n) or 0
end
function bit32.rshift(x, n)
   if n < 0 then return bit32.lshift(x, -n) end
   return n < 32 and math.floor(word(x) / 2 ^ n) or 0
end
function bit32.arshift(x, n)
   x = word(x)
   if n < 0 or x < 2 ^ 31 then return bit32.rshift(x, n) end
   return n < 32 and bit32.bor(bit32.rshift(x, n), WORD - 2 ^ (32 - n)) or WORD - 1
end
function bit32.lrotate(x, n)
   n = n % 32
   return bit32.bor(bit32.lshift(x, n), bit32.rshift(x, 32 - n))
end
function bit32.rrotate(x, n) return bit32.lrotate(x, -n) end

local function field(first, width)
   width = width or 1
   if first < 0 or width < 1 or first + width > 32 then error('trying to access non-existent bits', 3) end
   return 2 ^ width - 1
end
function bit32.extract(x, first, width)
   local mask = field(first, width)
   return bit32.band(bit32.rshift(x, first), mask)
end
function bit32.replace(x, value, first, width)
   local mask = field(first, width)
   local others = bit32.band(x, bit32.bnot(bit32.lshift(mask, first)))
   return bit32.bor(others, bit32.lshift(bit32.band(value, mask), first))
end
return bit32
