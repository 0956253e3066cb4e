local lapp = require 'pl.lapp'
local opt = lapp [[
Train a digit classifier
  -s,--save          (default "logs")      subdirectory to save logs
  -n,--network       (default "")          reload pretrained network
  -m,--model         (default "convnet")   type of model tor train: convnet | mlp | linear
  -f,--full                                use the full dataset
  -r,--learningRate  (default 0.05)        learning rate, for SGD only
  -b,--batchSize     (default 10)          batch size
  -t,--threads       (default 4)           number of threads
  --coefL1           (default 0)           L1 penalty on the weights
]]
print(opt.save, opt.network == '', opt.model, opt.full, opt.learningRate, opt.batchSize, opt.threads, opt.coefL1)
if opt.full and opt.batchSize > 10 then print('big') end
