-- torch.TestSuite: a table of tests that refuses to have one replaced.
local t7 = ...
function t7.torch.TestSuite()
   local suite = {__tests = {}, __isTestSuite = true}
   return setmetatable(suite, {
      __index = function(self, key) return rawget(self, '__tests')[key] end,
      __newindex = function(self, key, value)
         if self.__tests[key] ~= nil then error('Test ' .. tostring(key) .. ' is already defined.') end
         if type(value) == 'table' then error('Nested tables of tests are not supported') end
         if type(value) ~= 'function' then error('Only functions are supported as members of a TestSuite') end
         self.__tests[key] = value
      end,
   })
end
