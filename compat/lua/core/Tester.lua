-- torch.Tester: runs tests, counts what they assert, and reports.
local t7 = ...
local torch = t7.torch
local Tester = torch.class('torch.Tester')
local check = {}

function Tester:__init()
   self.errors, self.tests, self.warnings, self._warningCount, self.disabledTests = {}, {}, {}, {}, {}
   self._currentTestName = ''
   -- assertTensorEq takes {{1}} for {1}, as it always has.
   self._assertTensorEqIgnoresDims = true
end

function Tester:setEarlyAbort(on) self.earlyAbort = on end
function Tester:setRethrowErrors(on) self.rethrow = on end
function Tester:setSummaryOnly(on) self.summaryOnly = on end

function Tester:_success()
   local name = self._currentTestName
   self.assertionPass[name] = self.assertionPass[name] + 1
   return true
end
function Tester:_addDebugInfo(message)
   local stack = debug.traceback('tester', 3) or ''
   stack = stack:match('.-\n([^\n]+\n[^\n]+)\n[^\n]+xpcall') or ''
   local name = self._currentTestName
   return (name ~= '' and name .. '\n' or '') .. message .. '\n' .. stack
end
function Tester:_failure(message)
   if self.rethrow then error(message, 2) end
   local name = self._currentTestName
   self.assertionFail[name] = self.assertionFail[name] + 1
   table.insert(self.errors, self:_addDebugInfo(message))
   return false
end
function Tester:_warning(message)
   local name = self._currentTestName
   self._warningCount[name] = (self._warningCount[name] or 0) + 1
   table.insert(self.warnings, self:_addDebugInfo(message))
end
function Tester:_assert_sub(condition, message)
   if condition then return self:_success() end
   return self:_failure(message)
end

local function only_message(message, ...)
   assert(next{...} == nil, 'Unexpected arguments passed to test function')
   if not message then return '' end
   assert(type(message) == 'string', 'message parameter must be a string')
   return message ~= '' and message .. '\n' or ''
end

-- A tolerance and a message, in whatever order.
local function tolerance_and_message(default, ...)
   local tolerance, message
   for _, a in ipairs{...} do
      if type(a) == 'string' then
         if message then error('Unexpected string argument; already have message', a) end
         message = a .. '\n'
      elseif type(a) == 'number' then
         if tolerance then error('Unexpected number argument; already have tolerance', a) end
         assert(a >= 0, 'tolerance cannot be negative')
         tolerance = a
      else
         error('Unrecognized argument; should be a tolerance or message', a)
      end
   end
   return tolerance or default, message or ''
end

function Tester:assert(condition, ...)
   local message = only_message(...)
   if type(condition) ~= 'boolean' then
      self:_warning(' :assert should only be used for boolean conditions. To check for non-nil variables, do this ' ..
                    'explicitly: Tester:assert(var ~= nil).')
   end
   return self:_assert_sub(condition, message .. 'BOOL violation condition=' .. tostring(condition))
end

-- Comparisons: name, condition, and what is written when it fails.
for name, entry in pairs{
   assertlt = {function(a, b) return a < b end, 'LT', '>='}, assertgt = {function(a, b) return a > b end, 'GT', '<='},
   assertle = {function(a, b) return a <= b end, 'LE', '>'}, assertge = {function(a, b) return a >= b end, 'GE', '<'},
   asserteq = {function(a, b) return a == b end, 'EQ', '~='},
} do
   Tester[name] = function(self, a, b, ...)
      local message = only_message(...)
      return self:_assert_sub(entry[1](a, b), string.format('%s%s failed: %s %s %s', message, entry[2], tostring(a),
                                                            entry[3], tostring(b)))
   end
end
function Tester:assertne(a, b, ...)
   local message = only_message(...)
   if type(a) == type(b) and type(a) == 'table' or type(a) == 'userdata' then
      self:_warning(' :assertne should only be used to compare basic lua objects (numbers, booleans, etc). Consider ' ..
                    'using either :assertGeneralNe or :assert(a ~= b).')
   end
   return self:_assert_sub(a ~= b, string.format('%sNE failed: %s == %s', message, tostring(a), tostring(b)))
end
function Tester:assertalmosteq(a, b, ...)
   local tolerance, message = tolerance_and_message(1e-16, ...)
   return self:_assert_sub(math.abs(a - b) <= tolerance,
                           string.format('%sALMOST_EQ failed: %s ~= %s with tolerance=%s', message, tostring(a),
                                         tostring(b), tostring(tolerance)))
end

function Tester:_eqOrNeq(got, expected, negate, ...)
   local tolerance, message = tolerance_and_message(0, ...)
   local success, detail = check.areEq(got, expected, tolerance, negate)
   return self:_assert_sub(success, message .. (detail or ''))
end
function Tester:assertGeneralEq(got, expected, ...) return self:_eqOrNeq(got, expected, false, ...) end
function Tester:assertGeneralNe(got, unexpected, ...) return self:_eqOrNeq(got, unexpected, true, ...) end
function Tester:eq(got, expected, ...) return self:assertGeneralEq(got, expected, ...) end
function Tester:ne(got, unexpected, ...) return self:assertGeneralNe(got, unexpected, ...) end

function Tester:_assertTensorEqOrNeq(ta, tb, negate, ...)
   assert(torch.isTensor(ta), 'First argument should be a Tensor')
   assert(torch.isTensor(tb), 'Second argument should be a Tensor')
   local tolerance, message = tolerance_and_message(0, ...)
   local lax = self._assertTensorEqIgnoresDims
   local success, detail = check.areTensorsEq(ta, tb, tolerance, negate, lax)
   if lax and not negate and success and not ta:isSameSizeAs(tb) then
      self:_warning('Tensors have the same content but different dimensions. For backwards compatibility, they are ' ..
                    'considered equal, but this may change in the future. Consider using :eq to check for equality ' ..
                    'instead.')
   end
   return self:_assert_sub(success, message .. (detail or ''))
end
function Tester:assertTensorEq(ta, tb, ...) return self:_assertTensorEqOrNeq(ta, tb, false, ...) end
function Tester:assertTensorNe(ta, tb, ...) return self:_assertTensorEqOrNeq(ta, tb, true, ...) end

function Tester:_assertTableEqOrNeq(ta, tb, negate, ...)
   assert(type(ta) == 'table', 'First argument should be a Table')
   assert(type(tb) == 'table', 'Second argument should be a Table')
   return self:_eqOrNeq(ta, tb, negate, ...)
end
function Tester:assertTableEq(ta, tb, ...) return self:_assertTableEqOrNeq(ta, tb, false, ...) end
function Tester:assertTableNe(ta, tb, ...) return self:_assertTableEqOrNeq(ta, tb, true, ...) end

function Tester:assertErrorObj(f, fits, ...)
   local message = only_message(...)
   local ok, err = pcall(f)
   return self:_assert_sub(not ok and fits(err), string.format('%sERROR violation: err=%s', message, tostring(err)))
end
function Tester:assertError(f, ...) return self:assertErrorObj(f, function() return true end, ...) end
function Tester:assertErrorMsg(f, expected, ...)
   return self:assertErrorObj(f, function(err) return err == expected end, ...)
end
function Tester:assertErrorPattern(f, pattern, ...)
   return self:assertErrorObj(f, function(err) return err:find(pattern) ~= nil end, ...)
end
function Tester:assertNoError(f, ...)
   local message = only_message(...)
   local ok, err = pcall(f)
   return self:_assert_sub(ok, string.format('%sERROR violation: err=%s', message, tostring(err)))
end

function Tester:add(f, name)
   if type(f) == 'table' then
      assert(name == nil, 'Name parameter is forbidden for a table of tests, since its use is ambiguous')
      if f.__isTestSuite then f = f.__tests
      else self:_warning('Should use TestSuite rather than plain lua table') end
      for key, test in pairs(f) do
         assert(type(test) ~= 'table', 'Nested sets of tests are not supported')
         self:add(test, key)
      end
      return self
   end
   assert(type(f) == 'function', 'Only tables of functions and functions supported')
   if name == '_setUp' then
      assert(not self._setUp, 'Only one set-up function allowed')
      self._setUp = f
   elseif name == '_tearDown' then
      assert(not self._tearDown, 'Only one tear-down function allowed')
      self._tearDown = f
   else
      name = name or 'unknown'
      if self.tests[name] ~= nil then error('Test with name ' .. name .. ' already exists!') end
      self.tests[name] = f
   end
   return self
end

function Tester:disable(names)
   if type(names) == 'string' then names = {names} end
   assert(type(names) == 'table', 'Expecting name or list for disable')
   for _, name in ipairs(names) do
      assert(self.tests[name], "Unrecognized test '" .. name .. "'")
      self.disabledTests[name] = true
   end
   return self
end

function Tester:_getTests(names)
   if names == nil then return self.tests end
   if type(names) == 'string' then names = {names} end
   assert(type(names) == 'table', 'Only accept a name or table of test names (or nil for all tests)')
   local tests = {}
   for _, pattern in ipairs(names) do
      local found = false
      for name, test in pairs(self.tests) do
         if name:match(pattern) then
            tests[name] = test
            found = true
         end
      end
      assert(found, "Couldn't find test '" .. pattern .. "'")
   end
   return tests
end

function Tester:run(names)
   local tests = self:_getTests(names)
   self.assertionPass, self.assertionFail, self.haveWarning, self.testError = {}, {}, {}, {}
   for name in pairs(tests) do
      self.assertionPass[name], self.assertionFail[name], self.testError[name] = 0, 0, 0
      self._warningCount[name] = 0
   end
   self:_run(tests)
   self:_report(tests)
   for name in pairs(tests) do
      assert(self.assertionFail[name] == 0, 'An error was found while running tests!')
      assert(self.testError[name] == 0, 'An error was found while running tests!')
   end
   return 0
end

local COLUMNS = 80
local function plural(n, word) return n .. ' ' .. word .. (n == 1 and '' or 's') end

-- Colours of the package sys, once a script runs from the command line and has it.
local colours
local function coloured(text, colour)
   if colours == nil then
      local ok, found = pcall(require, 'sys.colors')
      colours = arg and ok and type(found) == 'table' and found or false
   end
   if not colours or not colours[colour] then return text end
   return colours[colour] .. text .. colours.none
end
local function tag(word, colour) return '[' .. coloured(word, colour) .. ']' end

function Tester:_pcall(f)
   local before = #self.errors
   local ok, result = xpcall(f, debug.traceback)
   if not ok then
      table.insert(self.errors, self._currentTestName .. '\n Function call failed\n' .. result .. '\n')
   end
   return ok, result, ok and before == #self.errors
end

function Tester:_run(tests)
   local n = 0
   for _ in pairs(tests) do n = n + 1 end
   local total = tostring(n)
   local counter = '%' .. #total .. 'u/' .. total .. ' '
   io.write('Running ' .. plural(n, 'test') .. '\n')
   local i = 1
   for name, test in pairs(tests) do
      self._currentTestName = name
      local dots = ('.'):rep(COLUMNS - 6 - 2 - (2 * #total + 2) - #name)
      local head = coloured(counter:format(i), 'cyan') .. name .. ' ' .. dots .. ' '
      io.write(head .. tag('WAIT', 'cyan'))
      io.flush()
      local ok, pass, _
      local skip = self.disabledTests[name]
      if not skip then
         if self._setUp then self._setUp(name) end
         if self.rethrow then
            local before = #self.errors
            test()
            ok, pass = true, before == #self.errors
         else
            ok, _, pass = self:_pcall(test)
         end
         if self._tearDown then self._tearDown(name) end
      end
      io.write('\r', head)
      if skip then io.write(tag('SKIP', 'yellow'))
      elseif not ok then
         self.testError[name] = 1
         io.write(tag('ERROR', 'magenta'))
      elseif not pass then io.write(tag('FAIL', 'red'))
      else
         io.write(tag('PASS', 'green'))
         if self._warningCount[name] > 0 then
            io.write('\n' .. (' '):rep(COLUMNS - 10), tag('+warning', 'yellow'))
         end
      end
      io.write('\n')
      io.flush()
      if self.earlyAbort and i < n and not skip and not (ok and pass) then
         io.write('Aborting on first error, not all tests have been executed\n')
         break
      end
      i = i + 1
      collectgarbage()
   end
end

function Tester:_report(tests)
   local counts = {tests = 0, failures = 0, errors = 0, disabled = 0, warnings = self._warningCount[''] or 0}
   local function add(key, condition) if condition then counts[key] = counts[key] + 1 end end
   self.countasserts = 0
   for name in pairs(tests) do
      add('tests', true)
      add('failures', self.assertionFail[name] > 0)
      add('errors', self.testError[name] > 0)
      add('warnings', self._warningCount[name] > 0)
      add('disabled', self.disabledTests[name])
      self.countasserts = self.countasserts + self.assertionFail[name] + self.assertionPass[name]
   end
   io.write('Completed ' .. plural(self.countasserts, 'assert') .. ' in ' .. plural(counts.tests, 'test') .. ' with ')
   io.write(coloured(plural(counts.failures, 'failure'), counts.failures == 0 and 'green' or 'red'), ' and ')
   io.write(coloured(plural(counts.errors, 'error'), counts.errors == 0 and 'green' or 'magenta'))
   if counts.warnings > 0 then io.write(' and ', coloured(plural(counts.warnings, 'warning'), 'yellow')) end
   if counts.disabled > 0 then io.write(' and ', coloured(counts.disabled .. ' disabled', 'yellow')) end
   io.write('\n')
   if self.summaryOnly then return end
   local line = ('-'):rep(COLUMNS) .. '\n'
   local begun = false
   for _, list in ipairs{self.errors, self.warnings} do
      for _, text in ipairs(list) do
         if not begun then io.write(line) end
         begun = true
         io.write(text .. '\n' .. line)
      end
   end
end

-- Equality: each returns success, and a message where it fails -------------------------------------------

function check.areSameFormatTensorsEq(ta, tb, tolerance, negate, storage)
   -- Bytes, chars and shorts have no abs.
   if not ta.abs then ta = ta:double() end
   if not tb.abs then tb = tb:double() end
   local difference = ta:clone():add(-1, tb):abs():max()
   local success = difference <= tolerance
   if negate then success = not success end
   if success then return success end
   return success, string.format('%s%s violation: max diff=%s, tolerance=%s', storage and 'Storage' or 'Tensor',
                                 negate and 'NE(==)' or 'EQ(==)', tostring(difference), tostring(tolerance))
end

function check.areTensorsEq(ta, tb, tolerance, negate, lax)
   if not lax and ta:dim() ~= tb:dim() then return negate, 'The tensors have different dimensions' end
   if ta:type() ~= tb:type() then return negate, 'The tensors have different types' end
   if ta:dim() == 0 and tb:dim() == 0 then return not negate, 'Both tensors are empty' end
   local same
   if lax then same = ta:nElement() == tb:nElement() else same = ta:isSameSizeAs(tb) end
   if not same then return negate, 'The tensors have different sizes' end
   return check.areSameFormatTensorsEq(ta, tb, tolerance, negate, false)
end

function check.areStoragesEq(sa, sb, tolerance, negate)
   if sa:size() ~= sb:size() then return negate, 'The storages have different sizes' end
   local kind = torch.type(sa)
   if kind ~= torch.type(sb) then return negate, 'The storages have different types' end
   local tensor = torch.getconstructortable((kind:gsub('Storage$', 'Tensor')))
   return check.areSameFormatTensorsEq(tensor(sa), tensor(sb), tolerance, negate, true)
end

function check.areEq(got, expected, tolerance, negate)
   if type(got) ~= type(expected) then
      local message = not negate and
         'EQ failed: values have different types (first: ' .. type(got) .. ', second: ' .. type(expected) .. ')' or nil
      return negate, message
   elseif type(got) == 'number' then
      local ok = math.abs(got - expected) <= tolerance
      if negate then ok = not ok end
      if ok then return ok end
      local message = string.format(negate and 'NE failed: %s == %s' or 'EQ failed: %s ~= %s', tostring(got),
                                    tostring(expected))
      if tolerance > 0 then message = message .. ' with tolerance=' .. tostring(tolerance) end
      return ok, message
   elseif type(expected) == 'table' then return check.areTablesEq(got, expected, tolerance, negate)
   elseif torch.isTensor(got) then return check.areTensorsEq(got, expected, tolerance, negate)
   elseif torch.isStorage(got) then return check.areStoragesEq(got, expected, tolerance, negate)
   end
   local ok = got == expected
   if negate then ok = not ok end
   if ok then return ok end
   return ok, string.format(negate and 'NE failed: %s (%s) == %s (%s)' or 'EQ failed: %s (%s) ~= %s (%s)', tostring(got),
                            type(got), tostring(expected), type(expected))
end

-- Breadth first, so that a difference is shown as near the top as it is.
function check.areTablesEq(first, second, tolerance, negate)
   local queue, head = {{first, second}}, 1
   while queue[head] do
      local a, b, place = unpack(queue[head], 1, 3)
      head = head + 1
      local function below(key) return place and place .. '.' .. tostring(key) or tostring(key) end
      for key, value in pairs(a) do
         local other = b[key]
         if other == nil then
            return negate, string.format('Entry %s missing in second table (is %s in first)', below(key), tostring(value))
         end
         if type(value) == 'table' and type(other) == 'table' then
            table.insert(queue, {value, other, below(key)})
         else
            local ok, message = check.areEq(value, other, tolerance, false)
            if not ok then return negate, 'At table location ' .. below(key) .. ': ' .. message end
         end
      end
      for key, value in pairs(b) do
         if a[key] == nil then
            return negate, string.format('Entry %s missing in first table (is %s in second)', below(key), tostring(value))
         end
      end
   end
   return not negate, 'The tables are equal'
end
