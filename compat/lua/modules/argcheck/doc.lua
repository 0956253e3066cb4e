-- The texts that packages give with their functions: kept between record() and stop().
local kept

local doc = {}
function doc.record() kept = {} end
function doc.stop()
   local text = table.concat(kept or {})
   kept = nil
   return text
end
function doc.doc(text) if kept then kept[#kept + 1] = text end end

return setmetatable(doc, {__call = function(_, text) return doc.doc(text) end})
