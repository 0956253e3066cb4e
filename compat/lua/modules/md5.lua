-- The package md5, without its encryption.
local system = torch._t7.import('compat.lua.system')
local md5 = {sumhexa = system.md5}

function md5.sum(text)
   return (system.md5(text):gsub('%x%x', function(hex) return string.char(tonumber(hex, 16)) end))
end

return md5
