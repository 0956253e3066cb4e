-- Torch7's package graph: its classes as nngraph uses them.
require 'torch'
local t7 = torch._t7
t7.load_classes()
graph = t7.packages.graph or {}
t7.packages.graph = graph
t7.bring('compat.nn.core.node')
function graph.dot() end
return graph
