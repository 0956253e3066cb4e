-- Values from one runtime to another: as in a file, but for the numbers of storages, which pass by themselves.
local t7 = torch._t7
local workers = t7.import('compat.lua.workers')
local pack, take_apart = workers.pack, workers.unpack

-- Gives classes other ways into files and out of them, while `action` runs: `ways[metatable] = {factory, write}`.
local function with_ways(ways, action)
   local saved = {}
   for mt, way in pairs(ways) do
      saved[mt] = {}
      local hooks = {__factory = way[1], write = way[2], read = function() end}
      hooks.__write, hooks.__read = hooks.write, hooks.read
      for name, hook in pairs(hooks) do
         saved[mt][name] = rawget(mt, name) or false
         rawset(mt, name, hook)
      end
   end
   local function finish(ok, ...)
      for mt, hooks in pairs(saved) do
         for name, hook in pairs(hooks) do rawset(mt, name, hook or nil) end
      end
      if not ok then error((...), 0) end
      return ...
   end
   return finish(pcall(action))
end

local transfer = {}

-- With `copied`, the other side gets numbers of its own.
function transfer.save(object, copied)
   local passed = {}
   local function pass(value, file)
      passed[#passed + 1] = value
      file:writeInt(#passed)
   end
   local ways = {}
   local function storage(u, file)
      local tensor = t7.tensor_of(u)
      if copied then tensor = tensor:clone()
      else debug.getfenv(u).shared = true end
      pass(tensor, file)
   end
   for mt in pairs(t7.storage_classes) do ways[mt] = {function() end, storage} end
   if not copied then
      for mt, way in pairs(t7.passed_by_reference or {}) do
         ways[mt] = {function() end, function(u, file) pass(way.save(u), file) end}
      end
   end
   return with_ways(ways, function()
      local file = torch.MemoryFile()
      file:binary()
      file:writeObject(object)
      local text = file:storage():string()
      file:close()
      return pack(text, passed, not copied)
   end)
end

function transfer.load(packed)
   local text, passed, by_reference = take_apart(packed)
   local ways = {}
   local function storage(file)
      local u = passed[file:readInt()]:storage()
      if u then debug.getfenv(u).shared = true end
      return u
   end
   for mt in pairs(t7.storage_classes) do ways[mt] = {storage, function() end} end
   if by_reference then
      for mt, way in pairs(t7.passed_by_reference or {}) do
         ways[mt] = {function(file) return way.load(passed[file:readInt()]) end, function() end}
      end
   end
   return with_ways(ways, function()
      local file = torch.MemoryFile(torch.CharStorage():string(text))
      file:binary()
      debug.getfenv(file).trusted = true -- functions are this process' own
      return file:readObject()
   end)
end

return transfer
