-- Nodes as nngraph makes them: what modules may be called with, and where a node was declared.
local nodes = {}

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
   for i = 1, table.maxn(input) do nodes.needs_node(input[i], 'inputs', i) end
end

local function place(info) return ('[%s]:%d'):format(info.short_src, info.currentline) end

-- Notes where `node` was declared: at the caller of the function that calls this.
function nodes.declared(node)
   local info = debug.getinfo(3, 'Sl')
   if not node.data.annotations._debugLabel then node.data.annotations._debugLabel = place(info) .. '_' end
   return node
end

-- The same for what `split` has made of `node`.
function nodes.divided(node, parts)
   local label = node.data.annotations._debugLabel or ''
   local whole = parts[1] and parts[1].children[1]
   if whole then whole.data.annotations._debugLabel = label .. ' split at ' .. place(debug.getinfo(3, 'Sl')) .. '-mnode' end
   for i, part in ipairs(parts) do part.data.annotations._debugLabel = label .. '-' .. i end
end

return nodes
