return {gModule = {updateOutput = function(self, input)
   local n = self.nInputs or #self.innode.children
   if n > 1 and type(input) ~= 'table' then error(('expecting table of %s inputs'):format(n)) end
end}}
