-- Torch7's package nnx: what dpnn uses of it, and what nets of 2011 hold.
require 'nn'
local names = require('nn.packages').nnx
nnx = {}
torch._t7.bring('compat.nn', function(name) return names[name] end)
return nnx
