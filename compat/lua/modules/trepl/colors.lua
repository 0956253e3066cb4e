-- Colours of the terminal; all empty if the output is not a terminal, or NO_COLOR is set.
local colors = {}
for name, sequence in pairs(require 'sys.colors') do colors[name] = torch.isatty(io.stdout) and sequence or '' end
return colors
