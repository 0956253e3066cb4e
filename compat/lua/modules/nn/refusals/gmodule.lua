-- nn.gModule of package nngraph.
local needs_node = require 'nngraph.nodes'.needs_node

-- All nodes that lead to `outputs`, those before others first.
local function reached(outputs)
   local order, seen = {}, {}
   local function visit(node)
      if seen[node] then return end
      seen[node] = true
      for _, child in ipairs(node.children) do visit(child) end
      order[#order + 1] = node
   end
   for _, node in ipairs(outputs) do visit(node) end
   return order, seen
end

local function unused_parts(unused, parts, label)
   error(('%s of split(%s) outputs from the node declared at %s are unused'):format(unused, parts, label))
end

local function __init(_, inputs, outputs)
   local is_output = {}
   for i = 1, table.maxn(outputs) do
      needs_node(outputs[i], 'outputs', i)
      assert(not is_output[outputs[i]], "Don't pass the same input twice.")
      is_output[outputs[i]] = true
   end
   for i = 1, table.maxn(inputs) do needs_node(inputs[i], 'inputs', i) end
   assert(#inputs > 0, 'no inputs are not supported')
   local is_input = {}
   for i = 1, #inputs do
      assert(#inputs == 1 or #inputs[i].children == 0, 'an input should have no inputs')
      is_input[inputs[i]] = true
   end
   assert(#outputs > 0, 'expecting only one start')
   local order, seen = reached(outputs)
   local unused = 0
   for i = 1, #inputs do if not seen[inputs[i]] then unused = unused + 1 end end
   local strangers = {}
   for _, node in ipairs(order) do
      if #node.children == 0 and not is_input[node] then strangers[#strangers + 1] = node end
   end
   assert(#strangers ~= 1 or unused < #inputs, 'expecting the forward innode')
   if #strangers > 0 then
      local module = strangers[1].data.module
      error('Expected nnop.Parameters node, ' .. (module and 'found : ' .. torch.typename(module) or
            'module not found in node'))
   end
   -- Torch7 splits the input for the nodes.
   if unused > 0 then unused_parts(unused, #inputs, '[[C]]:-1_ split at [nngraph/gmodule.lua]:96-mnode') end
   for _, node in ipairs(order) do
      local unused, dangling = 0, nil
      for _, consumer in ipairs(node.consumers) do
         if not seen[consumer] then unused, dangling = unused + 1, consumer end
      end
      local parts = node.data.nSplitOutputs
      if parts and unused > 0 then
         unused_parts(unused, parts, node.data.annotations._debugLabel)
      elseif dangling then
         error(('node declared on %s does not connect to gmodule output'):format(dangling.data.annotations._debugLabel))
      end
   end
end

local function updateOutput(self, input)
   local n = self.nInputs or #self.innode.children
   if n < 2 then return end
   if type(input) ~= 'table' then error(('expecting table of %s inputs'):format(n)) end
   if #input ~= n then error(('Got %s inputs instead of %s'):format(#input, n)) end
end

local function updateGradInput(self, _, gradOutput)
   local n = #self.outnode.children
   if n > 1 and #gradOutput ~= n then error(('Got %s gradOutputs instead of %s'):format(tostring(#gradOutput), n)) end
end

return {gModule = {__init = __init, updateOutput = updateOutput, updateGradInput = updateGradInput}}
