-- Torch7's package nnx: scripts require it beside nn, which has most of what they use. What only nnx has is nil.
require 'nn'
nnx = {}
return nnx
