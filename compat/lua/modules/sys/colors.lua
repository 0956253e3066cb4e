-- The sequences that colour a terminal: `red`, the bold `Red`, and `_red` for the background.
local colors = {none = '\27[0m'}
for i, name in ipairs{'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'} do
   colors[name] = ('\27[0;%dm'):format(29 + i)
   colors[name:gsub('^%l', string.upper)] = ('\27[1;%dm'):format(29 + i)
   colors['_' .. name] = ('\27[%dm'):format(39 + i)
end
return colors
