-- Torch7's package graph: its classes as nngraph uses them.
require 'torch'
local t7 = torch._t7
t7.load_classes()
graph = t7.packages.graph or {}
t7.packages.graph = graph
t7.bring('compat.nn.core.node')

-- Pictures are written where a name for them is given; nothing is shown.
local draw = t7.functions('compat.graph').dot
function graph.dot(g, title, name)
   if name then draw(g, title, name) end
end
return graph
