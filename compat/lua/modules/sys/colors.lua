-- The sequences that colour a terminal: `red`, the bold `Red`, and `_red` for the background; empty if NO_COLOR is set
-- (no-color.org). As in Torch7, they are not empty if the output is no terminal: what a script writes is its own.
local colors = {none = '\27[0m'}
for i, name in ipairs{'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'} do
   colors[name] = ('\27[0;%dm'):format(29 + i)
   colors[name:gsub('^%l', string.upper)] = ('\27[1;%dm'):format(29 + i)
   colors['_' .. name] = ('\27[%dm'):format(39 + i)
end
if (os.getenv('NO_COLOR') or '') ~= '' then
   for name in pairs(colors) do colors[name] = '' end
end
return colors
