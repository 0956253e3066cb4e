-- Values from one runtime to another: as in a file, but for the numbers of storages, which pass by themselves.
local t7 = torch._t7
local workers = t7.import('compat.lua.workers')
local pack, take_apart = workers.pack, workers.unpack

-- Gives all classes of storages other ways into files and out of them, while `action` runs.
local function with_hooks(factory, write, action)
   local saved = {}
   for mt in pairs(t7.storage_classes) do
      saved[mt] = {rawget(mt, '__factory'), rawget(mt, 'write'), rawget(mt, 'read')}
      rawset(mt, '__factory', factory)
      rawset(mt, 'write', write)
      rawset(mt, 'read', function() end)
   end
   local function finish(ok, ...)
      for mt, old in pairs(saved) do
         rawset(mt, '__factory', old[1])
         rawset(mt, 'write', old[2])
         rawset(mt, 'read', old[3])
      end
      if not ok then error((...), 0) end
      return ...
   end
   return finish(pcall(action))
end

local transfer = {}

-- With `copied`, the other side gets numbers of its own.
function transfer.save(object, copied)
   local tensors = {}
   local function write(storage, file)
      local tensor = t7.tensor_of(storage)
      if copied then tensor = tensor:clone()
      else debug.getfenv(storage).shared = true end
      tensors[#tensors + 1] = tensor
      file:writeInt(#tensors)
   end
   return with_hooks(function() end, write, function()
      local file = torch.MemoryFile()
      file:binary()
      file:writeObject(object)
      local text = file:storage():string()
      file:close()
      return pack(text, tensors)
   end)
end

function transfer.load(packed)
   local text, tensors = take_apart(packed)
   local function factory(file)
      local tensor = tensors[file:readInt()]
      local storage = tensor:storage()
      if storage then debug.getfenv(storage).shared = true end
      return storage
   end
   return with_hooks(factory, function() end, function()
      local file = torch.MemoryFile(torch.CharStorage():string(text))
      file:binary()
      return file:readObject()
   end)
end

return transfer
