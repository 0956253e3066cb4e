-- Torch7's C libraries for the FFI: ffi.C and ffi.load give the functions of TH and THNN that scripts declare.
local t7 = ...
local torch, ffi = t7.torch, t7.ffi
if not ffi then return end
local type, tostring, rawset = type, tostring, rawset

local function tensor(value, name)
   return t7.tensor_of_cdata(value) or t7.error(name .. ': a tensor or its cdata() expected, got ' .. torch.type(value))
end
local function storage(value, name)
   local rec = t7.record_of_cdata(value)
   return rec and rec.C.make_storage(rec) or
      t7.error(name .. ': a storage or its cdata() expected, got ' .. torch.type(value))
end

-- What the functions of tensors do. Dimensions and indices count from 0, as in C.
local TENSOR = {
   new = function(C) return C.new():cdata() end,
   newClone = function(_, x) return x:clone():cdata() end,
   newContiguous = function(_, x) return x:contiguous():cdata() end,
   retain = function() end,
   free = function() end,
   data = function(_, x) return x:data() end,
   storage = function(_, x) return x:storage() and x:storage():cdata() end,
   storageOffset = function(_, x) return x:storageOffset() - 1 end,
   nDimension = function(_, x) return x:nDimension() end,
   nElement = function(_, x) return x:nElement() end,
   size = function(_, x, d) return x:size(d + 1) end,
   stride = function(_, x, d) return x:stride(d + 1) end,
   isContiguous = function(_, x) return x:isContiguous() and 1 or 0 end,
   isSameSizeAs = function(_, x, y) return x:isSameSizeAs(y) and 1 or 0 end,
   resizeAs = function(_, x, y) x:resizeAs(y) end,
   set = function(_, x, y) x:set(y) end,
   copy = function(_, x, y) x:copy(y) end,
   zero = function(_, x) x:zero() end,
   fill = function(_, x, value) x:fill(value) end,
   get1d = function(_, x, i) return x[i + 1] end,
   set1d = function(_, x, i, value) x[i + 1] = value end,
   get2d = function(_, x, i, j) return x[i + 1][j + 1] end,
   set2d = function(_, x, i, j, value) x[i + 1][j + 1] = value end,
}
for n = 1, 4 do
   TENSOR['newWithSize' .. n .. 'd'] = function(C, ...) return C.new(...):cdata() end
   TENSOR['resize' .. n .. 'd'] = function(_, x, ...) x:resize(...) end
end
-- Functions that are not given a tensor first, and how many tensors the others are given.
local MAKES = {new = true, newWithSize1d = true, newWithSize2d = true, newWithSize3d = true, newWithSize4d = true}
local PAIRS = {isSameSizeAs = true, resizeAs = true, set = true, copy = true}

local STORAGE = {
   new = function(C) return C.new_storage():cdata() end,
   newWithSize = function(C, n) return C.new_storage(n):cdata() end,
   retain = function() end,
   free = function() end,
   data = function(_, x) return x:data() end,
   size = function(_, x) return x:size() end,
   resize = function(_, x, n) x:resize(n) end,
   fill = function(_, x, value) x:fill(value) end,
   get = function(_, x, i) return x[i + 1] end,
   set = function(_, x, i, value) x[i + 1] = value end,
   copy = function(_, x, y) x:copy(y) end,
}

local function number(value) return type(value) == 'cdata' and tonumber(value) or value end

local function of_tensors(C, name, f, full)
   return function(first, second, ...)
      if C.cuda and not t7.tensor_of_cdata(first) then first, second = second, ... end
      if MAKES[name] then return f(C, number(first), number(second), ...) end
      local x = tensor(first, full)
      if PAIRS[name] then return f(C, x, tensor(second, full)) end
      return f(C, x, number(second), ...)
   end
end
local function of_storages(C, name, f, full)
   return function(first, second, ...)
      if name:find('^new') then return f(C, number(first)) end
      return f(C, storage(first, full), name == 'copy' and storage(second, full) or number(second), ...)
   end
end

-- The function of this name, or nil.
local function find(name)
   local kind, rest = name:match('^THNN_(%u%l+)(.+)$')
   local other = kind == 'Cuda' and (rest:match('^Double') or rest:match('^Half'))
   if other then kind, rest = 'Cuda' .. other, rest:sub(#other + 1) end
   local C = t7.class_named[kind]
   if C and not C.integer and t7.is_thnn_function(rest) then
      local f = t7.thnn(C)[rest]
      return function(_, ...) return f(...) end -- the first argument is the library's state
   end
   local object
   kind, object, rest = name:match('^TH(%a-)(%u%l+)_(%w+)$')
   C = t7.class_named[kind]
   if C and object == 'Tensor' and TENSOR[rest] then return of_tensors(C, rest, TENSOR[rest], name) end
   if C and object == 'Storage' and STORAGE[rest] then return of_storages(C, rest, STORAGE[rest], name) end
end

local function refuse(name)
   error("'" .. name .. "' is a function of Torch7's C libraries that is not here: those of THNN are, and of tensors and " ..
         'storages those that make, measure, resize, fill and copy them', 3)
end

local function index(t, key) return t[key] end
-- A library: ours where names are Torch7's, else what there is besides.
local function library(others)
   return setmetatable({}, {
      __index = function(self, name)
         local ours = name:find('^TH') and find(name)
         if not ours then
            local ok, found = pcall(index, others, name)
            if not ok or found == nil then
               if name:find('^TH') then refuse(name) end
               t7.error(tostring(found))
            end
            -- Functions stay what they are; variables do not.
            if type(found) == 'cdata' and tostring(ffi.typeof(found)):find('%(') then rawset(self, name, found) end
            return found
         end
         rawset(self, name, ours)
         return ours
      end,
      __newindex = function(_, name, value) others[name] = value end,
   })
end

ffi.C = library(ffi.C)
local ours = library({})

local LIBRARIES = {TH = true, THNN = true, THC = true, THCUNN = true, luaT = true}
local function is_ours(name)
   local base = name:match('[^/\\]*$'):gsub('^lib', ''):gsub('%.so[%.%d]*$', ''):gsub('%.dylib$', ''):gsub('%.dll$', '')
   return LIBRARIES[base]
end

local load = ffi.load
function ffi.load(name, global)
   if type(name) == 'string' and is_ours(name) then return ours end
   return load(name, global)
end

-- Packages look for the libraries before they load them.
local searchpath = package.searchpath
if searchpath then
   function package.searchpath(name, path, ...)
      if is_ours(name) and path == package.cpath then return name end
      return searchpath(name, path, ...)
   end
end
