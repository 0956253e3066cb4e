-- The files below folders, as rows of characters: a million names are one tensor.
local system = torch._t7.import('compat.lua.system')

local function as_list(value) return type(value) == 'string' and {value} or value end

-- paths.indexdir(folders, [extensions, use_cache, ignore])
function paths.indexdir(folders, extensions, use_cache, ignore)
   folders = as_list(folders)
   extensions = as_list(extensions) or {'jpg', 'png', 'JPG', 'PNG', 'JPEG', 'ppm', 'PPM', 'bmp', 'BMP'}
   local made = os.tmpname()
   os.remove(made)
   local cache = paths.concat(paths.dirname(made), torch.md5.sumhexa(table.concat(folders) .. table.concat(extensions)))
   local names = {}
   if use_cache and paths.filep(cache) then
      for name in io.lines(cache) do names[#names + 1] = name end
   else
      for _, folder in ipairs(folders) do
         for _, name in ipairs(system.files_below(folder, extensions, ignore)) do names[#names + 1] = name end
      end
      local file = assert(io.open(cache, 'w'))
      if #names > 0 then file:write(table.concat(names, '\n'), '\n') end
      file:close()
   end
   assert(#names > 0, 'Could not find any files in the given input paths')

   local longest = 0
   for _, name in ipairs(names) do longest = math.max(longest, #name) end
   local tensor = torch.CharTensor(#names, longest + 1):zero()
   for i, name in ipairs(names) do
      tensor[i]:narrow(1, 1, #name):copy(torch.CharTensor(torch.CharStorage():string(name)))
   end
   local found = {tensor = tensor, cachefile = cache}
   function found:filename(i) return (string.char(unpack(self.tensor[i]:byte():totable())):match('^%Z*')) end
   function found:size() return self.tensor:size(1) end
   return found
end
