-- torch.CmdLine: options and arguments of scripts.
local t7 = ...
local torch = t7.torch
local CmdLine = torch.class('torch.CmdLine')

local function plain(key) return (key:match('%-*(.*)')) end
local function padded(text, size) return text .. (' '):rep(size - #text) end
local function label(entry) return entry.default ~= nil and entry.key or '<' .. plain(entry.key) .. '>' end

function CmdLine:__init(argseparator, keyseparator)
   self.argseparator = argseparator or ','
   self.keyseparator = keyseparator or '='
   self.options, self.arguments, self.helplines = {}, {}, {}
   self.dateformat = nil
   self.silentio = false
end

function CmdLine:error(message)
   print('')
   io.stderr:write(message)
   print('')
   self:help()
   os.exit(1)
end

function CmdLine:silent() self.silentio = true end

function CmdLine:addTime(name, format)
   format = format or '%Y-%m-%d %H:%M:%S'
   if type(format) ~= 'string' then error('Argument has to be string') end
   self.dateformat = format .. (name ~= nil and '[' .. name .. ']: ' or '')
end

function CmdLine:text(text)
   text = text or ''
   assert(type(text) == 'string')
   table.insert(self.helplines, text)
end

function CmdLine:argument(key, help, kind)
   local entry = {key = key, help = help, type = kind}
   table.insert(self.arguments, entry)
   table.insert(self.helplines, entry)
end

function CmdLine:option(key, default, help, kind)
   if default == nil then error('option ' .. key .. ' has no default value') end
   kind = kind or type(default)
   if type(default) ~= kind then error('option ' .. key .. ' has wrong default type value') end
   local entry = {key = key, default = default, help = help, type = kind}
   self.options[key] = entry
   table.insert(self.helplines, entry)
end

function CmdLine:default()
   local params = {}
   for key, entry in pairs(self.options) do params[plain(key)] = entry.default end
   return params
end

-- Both put a value into `params` and return how many words they took.
function CmdLine:__readArgument__(params, arg, i, n)
   local entry, value = self.arguments[n], arg[i]
   if n > #self.arguments then self:error('invalid argument: ' .. value) end
   if entry.type and type(value) ~= entry.type then
      self:error('invalid argument type for argument ' .. entry.key .. ' (should be ' .. entry.type .. ')')
   end
   params[plain(entry.key)] = value
   return 1
end

function CmdLine:__readOption__(params, arg, i)
   local key = arg[i]
   local entry = self.options[key]
   if not entry then self:error('unknown option ' .. key) end
   if entry.type == 'boolean' then
      params[plain(key)] = not entry.default
      return 1
   end
   local value = arg[i + 1]
   if not value then self:error('missing argument for option ' .. key) end
   if entry.type == 'number' then value = tonumber(value)
   elseif entry.type and entry.type ~= 'string' then
      self:error('unknown required option type ' .. entry.type)
   end
   if not value then self:error('invalid type for option ' .. key .. ' (should be ' .. entry.type .. ')') end
   params[plain(key)] = value
   return 2
end

function CmdLine:parse(arg)
   local params = self:default()
   local i, n = 1, 0
   while i <= #arg do
      local word = arg[i]
      if word == '-help' or word == '-h' or word == '--help' then
         self:help(arg)
         os.exit(0)
      end
      if self.options[word] then i = i + self:__readOption__(params, arg, i)
      else
         n = n + 1
         i = i + self:__readArgument__(params, arg, i, n)
      end
   end
   if n ~= #self.arguments then self:error('not enough arguments') end
   return params
end

-- A name for a folder: what differs from the defaults.
function CmdLine:string(prefix, params, ignore)
   local arguments, options = {}, {}
   for key, value in pairs(params) do
      local option = self.options['-' .. key]
      if ignore[key] then print('-- ignore option ' .. key)
      elseif option then
         if value ~= option.default or ignore[key] == false then
            if type(value) == 'boolean' then value = value and 't' or 'f' end
            table.insert(options, key .. self.keyseparator .. value)
            print(key, value, option.default)
         end
      else
         local place
         for i, entry in ipairs(self.arguments) do if plain(entry.key) == key then place = i end end
         if place then arguments[place] = key .. self.keyseparator .. value
         else print('WARNING: unknown option/argument: ' .. key .. ' IGNORING for DIRECTORY NAME') end
      end
   end
   table.sort(options)
   local text = table.concat(arguments, self.argseparator)
   local rest = table.concat(options, self.argseparator)
   text = text == '' and rest or text .. self.argseparator .. rest
   prefix = prefix or ''
   return text == '' and prefix or prefix .. self.argseparator .. text
end

local original_print
function CmdLine:log(file, params)
   local target = io.type(file) == 'file' and file or io.open(file, 'w')
   original_print = original_print or print
   function print(...)
      if not self.silentio then original_print(...) end
      local words = {}
      if self.dateformat then words[1] = os.date(self.dateformat) end
      for i = 1, select('#', ...) do words[#words + 1] = tostring((select(i, ...))) end
      words[#words + 1] = '\n'
      target:write(table.concat(words, ' '))
      target:flush()
   end
   print('[program started on ' .. os.date() .. ']')
   print('[command line arguments]')
   for key, value in pairs(params or {}) do print(key, value) end
   print('[----------------------]')
end

function CmdLine:help(arg)
   io.write('Usage: ', arg and arg[0] .. ' ' or '', '[options]')
   for _, entry in ipairs(self.arguments) do io.write(' <' .. plain(entry.key) .. '>') end
   io.write('\n')
   local size = 0
   for _, entry in ipairs(self.helplines) do
      if type(entry) == 'table' then size = math.max(size, #label(entry)) end
   end
   for _, entry in ipairs(self.helplines) do
      if type(entry) == 'string' then io.write(entry)
      else
         io.write('  ', padded(label(entry), size))
         if entry.help then io.write(' ', entry.help) end
         if entry.default ~= nil then io.write(' [', tostring(entry.default), ']') end
      end
      io.write('\n')
   end
end
