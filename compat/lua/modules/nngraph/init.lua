-- Torch7's package nngraph: modules called with nodes, and nn.gModule.
require 'nn'
require 'graph'
local t7 = torch._t7
local nodes = require 'nngraph.nodes'
local paths = require 'paths'
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

t7.adapt('graph.Graph', {todot = t7.functions('compat.graph').todot})

local split = Node.split
t7.adapt('nngraph.Node', {
   __unm__ = function(node) return nn.Identity()(node) end,
   __sub__ = after,
   __tostring__ = torch.typename,
   label = function(node)
      local module, description = node.data.module, node.data.annotations.description
      return (description and 'desc = ' .. description .. '\\n' or '') ..
             (module and 'module = ' .. tostring(module):gsub('\n', '\\l') or '')
   end,
   graphNodeName = function(node)
      local name = node.data.annotations.name
      return name and name .. ' (' .. node.id .. ')' or 'Node' .. node.id
   end,
   split = function(node, n)
      local parts = split(node, n)
      if torch.typename(parts) then
         nodes.declared(parts)
         return parts
      end
      nodes.divided(parts)
      return unpack(parts)
   end,
})

local pictures = t7.functions('compat.graph')
nngraph.simple_print = {todot = pictures.todot, dot = graph.dot}

-- While it is on, an error in a gModule leaves a picture of its graph, with the node that failed in red.
local function draw_failure(containers, places)
   for i, net in ipairs(containers) do
      if torch.isTypeOf(net, 'nn.gModule') then
         local name = net.name or ('nngraph_%din_%dout'):format(net.nInputs or #net.innode.children, #net.outnode.children)
         if paths.filep(name .. '.svg') then name = name .. '_' .. paths.basename(os.tmpname()) end
         io.stderr:write('saving ' .. name .. '.svg\n')
         pictures.dot(net.fg, name, name, net.modules[places[i]])
      end
   end
end
function nngraph.setDebug(enable) t7.at_net_error = enable and draw_failure or nil end

-- There is no window: the picture is in a file.
function nngraph.display(net)
   local name = os.tmpname()
   graph.dot(net.fg, name, name)
   io.stderr:write('saved ' .. name .. '.svg\n')
end

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
