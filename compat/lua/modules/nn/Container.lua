-- How containers pass on the errors of what they hold: each says which of its modules it was.
local t7 = torch._t7
local NOTE = "WARNING: If you see a stack trace below, it doesn't point to the place where this error occurred. " ..
             'Please use only the one above.'
-- The classes of Torch7 that do.
local TELLING = {'nn.Sequential', 'nn.Concat', 'nn.ConcatTable', 'nn.ParallelTable', 'nn.Parallel', 'nn.MapTable'}

local function passed_on(err, container, i, stack)
   local start, place_end = err:find(NOTE, 1, true), err:find('\n', 1, true)
   if start then
      err = err:sub(place_end + 1)
   else
      err = err .. '\n' .. (stack or debug.traceback('', 3):sub(2)) .. '\n\n' .. NOTE
   end
   return ('\nIn %d module of %s:\n%s'):format(i, torch.type(container), err)
end

t7.adapt('nn.Container', {
   rethrowErrors = function(self, module, i, method, ...)
      assert(module == self.modules[i], 'mismatch between moduleIndex and self.modules in rethrowErrors')
      local args, n = {...}, select('#', ...)
      local ok, result, second = xpcall(function() return module[method](module, unpack(args, 1, n)) end,
                                        function(err) return passed_on(err, self, i) end)
      assert(second == nil, 'rethrowErrors supports only one return argument')
      if not ok then error(result) end
      return result
   end,
})

-- The same for an error that came through containers that Python ran: raises what the outermost does.
return function(err, containers, places, n, stack)
   for k = 1, n do
      local container = containers[k]
      for _, class in ipairs(TELLING) do
         if torch.isTypeOf(container, class) then
            local ok, told = pcall(passed_on, err, container, places[k], stack)
            local _, raised = pcall(function() error(ok and told or 'error in error handling') end)
            err = raised
            break
         end
      end
   end
   error(err, 0)
end
