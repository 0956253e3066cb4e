-- Torch7's package nnx: what dpnn uses of it, and the classes of old files.
require 'nn'
local names = require('nn.packages').nnx
nnx = {}
torch._t7.bring('compat.nn', function(name) return names[name] end)
require 'nnx.SpatialNormalization'
return nnx
