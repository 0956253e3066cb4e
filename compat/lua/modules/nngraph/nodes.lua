-- Nodes as nngraph makes them: what modules may be called with, and where a node was declared.
local nodes = {}
-- Python's, since annotations that Lua has seen are compared whenever Python is called.
local declarations = torch._t7.functions('compat.nn.core.node')

local function is_node(value) return torch.typename(value) == 'nngraph.Node' end

-- Refuses what is no node: entry `i` of the table that errors call `name`.
function nodes.needs_node(value, name, i)
   if is_node(value) then return end
   local place, kind = ('%s[%d] '):format(name, i), torch.typename(value) or type(value)
   if value == nil then
      error(place .. 'is nil (typo / bad index?)', 2)
   elseif torch.isTypeOf(value, 'nn.Module') then
      error(place .. 'is an nn.Module, specifically a ' .. kind .. ', but the only valid thing to pass is an ' ..
            'instance of nngraph.Node. Did you forget a second set of parens, which convert a nn.Module to a ' ..
            'nngraph.Node?', 2)
   end
   error(place .. 'should be an nngraph.Node but is of type ' .. kind, 2)
end

-- Checks the arguments that a module is called with.
function nodes.check(n, input)
   assert(n <= 1, 'Use {input1, input2} to pass multiple inputs.')
   if n == 0 then return end
   if type(input) ~= 'table' or torch.typename(input) then return nodes.needs_node(input, 'inputs', 1) end
   if next(input) == nil then
      error('cannot pass an empty table of inputs. To indicate no incoming connections, leave the second set of ' ..
            'parens blank.', 2)
   end
   local seen = {}
   for i = 1, table.maxn(input) do
      nodes.needs_node(input[i], 'inputs', i)
      assert(not seen[input[i]], "Don't pass the same input twice.")
      seen[input[i]] = true
   end
end

local function place(info) return ('[%s]:%d'):format(info.short_src, info.currentline) end

-- Notes where `node` was declared: at the caller of the function that calls this.
function nodes.declared(node)
   declarations.declare(node, place(debug.getinfo(3, 'Sl')) .. '_')
   return node
end

-- The same for what `split` has made of a node.
function nodes.divided(parts)
   declarations.declare_parts(parts, place(debug.getinfo(3, 'Sl')))
end

return nodes
