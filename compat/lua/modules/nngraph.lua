-- Torch7's package nngraph: modules called with nodes, and nn.gModule.
require 'nn'
require 'graph'
local t7 = torch._t7
nngraph = t7.packages.nngraph or {}
t7.packages.nngraph = nngraph
t7.bring('compat.nngraph')
local functions = t7.functions('compat.nngraph')
nngraph.nest = functions.nest

local Node = torch.getmetatable('nngraph.Node')
local function after(before, module) return module(before) end
t7.adapt('nn.Module', {__unm__ = function(module) return module() end, __sub__ = after})
local split = Node.split
t7.adapt('nngraph.Node', {
   __unm__ = function(node) return nn.Identity()(node) end,
   __sub__ = after,
   label = function(node)
      local module = node.data.module
      return (module and 'module = ' .. tostring(module):gsub('\n', '\\l')) or ''
   end,
   split = function(node, n)
      local nodes = split(node, n)
      if torch.typename(nodes) then return nodes end
      return unpack(nodes)
   end,
})

function nngraph.setDebug() end
function nngraph.display() end
function nngraph.simple_print() end
-- Names the nodes that lie in local variables of the caller.
function nngraph.annotateNodes()
   local i = 1
   while true do
      local name, value = debug.getlocal(2, i)
      if not name then break end
      if torch.typename(value) == 'nngraph.Node' and not value.data.annotations.name then
         value:annotate{name = name}
      end
      i = i + 1
   end
end
return nngraph
