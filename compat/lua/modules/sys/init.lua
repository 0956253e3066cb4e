-- Torch7's package sys: clocks, commands of the shell, colours.
local paths = require 'paths'
local system = torch._t7.import('compat.lua.system')
sys = {}

sys.clock, sys.sleep = system.clock, system.sleep
local sleep = system.sleep
function sys.usleep(microseconds) sleep((tonumber(microseconds) or 1) / 1e6) end

local started
function sys.tic() started = sys.clock() end
function sys.toc(verbose)
   local seconds = sys.clock() - started
   if verbose then print(seconds) end
   return seconds
end

local function trimmed(text) return (text:gsub('^%s*', ''):gsub('%s*$', '')) end
function sys.execute(command)
   local pipe = io.popen(command .. ' 2>&1')
   local output = pipe:read('*all')
   pipe:close()
   return trimmed(output)
end
function sys.fexecute(command, what)
   local name = os.tmpname()
   os.execute(command .. ' >' .. name .. ' 2>&1')
   local file = assert(io.open(name))
   local output = file:read(what or '*all')
   file:close()
   os.remove(name)
   return trimmed(output)
end

function sys.uname()
   local names = {Linux = 'linux', Darwin = 'macos', Windows = 'windows'}
   return names[paths.uname()] or '?'
end
sys.OS = sys.uname()

for name, options in pairs{ls = '', ll = '-l ', la = '-a ', lla = '-la '} do
   sys[name] = function(folder) return sys.execute('ls ' .. options .. (folder or ' ')) end
end

sys.prefix = '.'
sys.fpath = require 'sys.fpath'
sys.COLORS = require 'sys.colors'
sys.dirname, sys.concat = paths.dirname, paths.concat

function sys.split(text, pattern)
   local parts, from = {}, 1
   local first, last, part = text:find('(.-)' .. pattern)
   while first do
      if first ~= 1 or part ~= '' then parts[#parts + 1] = part end
      from = last + 1
      first, last, part = text:find('(.-)' .. pattern, from)
   end
   if from <= #text then parts[#parts + 1] = text:sub(from) end
   return parts
end
function sys.isNaN(number) return number ~= number end

return sys
