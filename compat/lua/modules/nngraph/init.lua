-- Torch7's package nngraph: modules called with nodes, and nn.gModule.
require 'nn'
require 'graph'
local t7 = torch._t7
local nodes = require 'nngraph.nodes'
nngraph = t7.packages.nngraph or {}
t7.packages.nngraph = nngraph
t7.bring('compat.nngraph')
local functions = t7.functions('compat.nngraph')
nngraph.nest = functions.nest

local Node = torch.getmetatable('nngraph.Node')
local function after(before, module) return module(before) end

-- Modules and criterions are called with nodes only.
for _, class in ipairs{'nn.Module', 'nn.Criterion'} do
   local call = torch.getmetatable(class).__call__
   t7.adapt(class, {__call__ = function(self, ...)
      nodes.check(select('#', ...), ...)
      local node = nodes.declared(call(self, ...))
      return node
   end})
end
t7.adapt('nn.Module', {__unm__ = function(module) return module() end, __sub__ = after})

local split = Node.split
t7.adapt('nngraph.Node', {
   __unm__ = function(node) return nn.Identity()(node) end,
   __sub__ = after,
   label = function(node)
      local module, description = node.data.module, node.data.annotations.description
      return (description and 'desc = ' .. description .. '\\n' or '') ..
             (module and 'module = ' .. tostring(module):gsub('\n', '\\l') or '')
   end,
   split = function(node, n)
      local parts = split(node, n)
      if torch.typename(parts) then return parts end
      nodes.divided(node, parts)
      return unpack(parts)
   end,
})

function nngraph.setDebug() end
function nngraph.display() end
nngraph.simple_print = {
   todot = t7.functions('compat.graph').todot,
   dot = graph.dot,
}

-- Names the nodes that lie in local variables of a caller: 1, the default, is the one that calls this.
function nngraph.annotateNodes(level)
   local i = 1
   while true do
      local name, value = debug.getlocal((level or 1) + 1, i)
      if not name then break end
      if torch.typename(value) == 'nngraph.Node' and not value.data.annotations.name then
         value:annotate{name = name}
      end
      i = i + 1
   end
end
return nngraph
