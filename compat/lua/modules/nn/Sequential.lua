local t7 = torch._t7

t7.adapt('nn.Sequential', {
   -- Neither returns anything.
   insert = function(self, module, i)
      i = i or #self.modules + 1
      if i < 1 or i > #self.modules + 1 then error('index should be contiguous to existing modules') end
      table.insert(self.modules, i, module)
   end,
   remove = function(self, i)
      i = i or #self.modules
      if i < 1 or i > #self.modules then error('index out of range') end
      table.remove(self.modules, i)
   end,
})
