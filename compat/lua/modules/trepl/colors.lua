-- Colours of the terminal; all empty where the output is no terminal.
local colors = {}
for name, sequence in pairs(require 'sys.colors') do colors[name] = torch.isatty(io.stdout) and sequence or '' end
return colors
