local t7 = torch._t7

-- Its results are those of its first and its last module, also before it has any of its own.
local function take_over(self)
   local n = #self.modules
   self.output = n > 0 and self.modules[n].output or torch.Tensor()
   self.gradInput = n > 0 and self.modules[1].gradInput or torch.Tensor()
end

t7.adapt('nn.Sequential', {
   add = function(self, module)
      if #self.modules == 0 then self.gradInput = module.gradInput end
      table.insert(self.modules, module)
      self.output = module.output
      return self
   end,
   -- Neither returns anything.
   insert = function(self, module, i)
      i = i or #self.modules + 1
      if i < 1 or i > #self.modules + 1 then error('index should be contiguous to existing modules') end
      table.insert(self.modules, i, module)
      take_over(self)
   end,
   remove = function(self, i)
      i = i or #self.modules
      if i < 1 or i > #self.modules then error('index out of range') end
      table.remove(self.modules, i)
      take_over(self)
   end,
})
