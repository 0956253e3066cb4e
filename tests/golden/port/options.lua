require 'torch'
local cmd = torch.CmdLine()
cmd:text()
cmd:text('Train something')
cmd:option('-lr', 0.1, 'learning rate')
cmd:option('-name', 'run', 'name')
cmd:option('-verbose', false, 'say more')
cmd:option('-hidden', 10, 'units')
cmd:option('-gpuid', -1, 'gpu')
cmd:text()
opt = cmd:parse(arg or {})
opt.save = opt.name .. '_' .. opt.hidden
opt.epochs = opt.epochs or 3
opt.decay = opt.lr > 0.2 and 1e-4 or 0
if opt.verbose then print('verbose', opt.lr) end
if opt.gpuid >= 0 then require 'cutorch' end
print(opt.save, opt.epochs, opt.decay, opt.missing, opt.missing == nil)
local keys = {}
for k, v in pairs(opt) do table.insert(keys, k .. '=' .. tostring(v)) end
table.sort(keys)
print(table.concat(keys, ' '))

local sizes = {}
for w in ('10,20,30'):gmatch('%d+') do sizes[#sizes + 1] = tonumber(w) end
for i = 1, #sizes do sizes[i] = sizes[i] * opt.hidden end
print(table.concat(sizes, ' '), #sizes)
local config = {learningRate = opt.lr, momentum = 0.9}
for k, v in pairs{learningRate = 1, nesterov = true} do config[k] = config[k] or v end
print(config.learningRate, config.nesterov, config.momentum)
local function get(o, k, default) if o[k] == nil then return default end return o[k] end
print(get(opt, 'verbose', 5), get(opt, 'nothing', 7), get(config, 'nesterov', false))
opt.lr = nil
print(opt.lr)
