-- options of the command line
require 'torch'
local cmd = torch.CmdLine()
cmd:text('Train something')
cmd:option('-lr', 0.01, 'learning rate')
cmd:option('-layers', 2, 'number of layers')
cmd:option('-name', 'net', 'its name')
cmd:option('-gpu', false, 'use it')
local opt = cmd:parse(arg or {})
print(opt.lr, opt.layers, opt.name, opt.gpu)
local sizes = {}
for i = 1, opt.layers do sizes[i] = 2 ^ (i + 2) end
print(table.concat(sizes, '-'))
if opt.gpu then print('gpu') else print('cpu') end
opt.extra = opt.extra or 'none'
print(opt.extra, opt.name .. '_' .. opt.layers .. '.t7')
