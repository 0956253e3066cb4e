-- xlua.OptionParser: options of a command line, declared as in Python's optparse.
local OptionParser = {}

function xlua.OptionParser(usage)
   local self = {usage = usage, option_descriptions = {}, option_of = {}}
   for name, method in pairs(OptionParser) do self[name] = method end
   self:option{'-h', '--help', action = 'store_true', dest = 'help', help = 'show this help message and exit'}
   return self
end

function OptionParser:fail(message)
   io.stderr:write(message .. '\n')
   self:help()
   os.exit(1)
end

function OptionParser:option(option)
   table.insert(self.option_descriptions, option)
   for _, flag in ipairs(option) do self.option_of[flag] = option end
end

function OptionParser:parse(options)
   options = options or {}
   local rest = {}
   for _, option in ipairs(self.option_descriptions) do
      if option.default ~= nil and options[option.dest] == nil then options[option.dest] = option.default end
   end
   self.options = options
   options.__main__ = arg ~= nil
   if not arg then return options, rest end

   local words = {}
   for _, word in ipairs(arg) do
      local flag, value = word:match('^(%-%-%w+)=(.*)')
      table.insert(words, flag or word)
      if flag then table.insert(words, value) end
   end
   local i = 1
   while i <= #words do
      local word = words[i]
      local option = self.option_of[word]
      if option then
         local value = option.default
         if option.action == nil or option.action == 'store' then
            i = i + 1
            value = words[i] or option.default
            if not value then self:fail('option requires an argument ' .. word) end
         elseif option.action == 'store_true' then value = true
         elseif option.action == 'store_false' then value = false end
         options[option.dest] = value
      else
         if word:match('^%-') then self:fail('invalid option ' .. word) end
         table.insert(rest, word)
      end
      i = i + 1
   end
   for flag, option in pairs(self.option_of) do
      if option.req and not options[option.dest] then self:fail('option ' .. flag .. ' requires an argument ') end
   end
   if options.help then
      self:help()
      os.exit()
   end
   return options, rest
end

function OptionParser:flags(option)
   local flags = {}
   local takes = option.action == nil or option.action == 'store'
   for i, flag in ipairs(option) do
      local value = takes and (option.metavar or option.dest:upper())
      flags[i] = value and flag .. (#flag == 2 and ' ' or '=') .. value or flag
   end
   return table.concat(flags, ', ')
end

function OptionParser:help()
   local program = arg[-1] and arg[0] and arg[-1] .. ' ' .. arg[0] or arg[0] or 'THISPROG'
   print('Usage: ' .. self.usage:gsub('%%prog', (program:gsub('%%', '%%%%'))) .. '\n\nOptions:')
   local width = 0
   for _, option in ipairs(self.option_descriptions) do width = math.max(width, #self:flags(option)) end
   for _, option in ipairs(self.option_descriptions) do
      local flags = self:flags(option)
      local note = option.req and ' [REQUIRED]' or
         option.default and ' [default = ' .. tostring(option.default) .. ']' or ''
      print('  ' .. flags .. (' '):rep(width - #flags) .. '  ' .. (option.help or '') .. note)
   end
end

function OptionParser:tostring(as_file_name, wanted)
   local parts = {}
   if not as_file_name then
      parts[1] = '<' .. (arg and arg[0] or 'interpreted.lua'):gsub('.lua', '') .. '> configuration:\n'
      for name, value in pairs(self.options) do parts[#parts + 1] = ' + ' .. name .. ' = ' .. tostring(value) .. '\n' end
      return table.concat(parts)
   end
   local chosen = {}
   for _, name in ipairs(wanted or {}) do chosen[name] = true end
   for _, option in ipairs(self.option_descriptions) do
      local value = self.options[option.dest]
      if value and (next(chosen) == nil or chosen[option[1]]) then
         parts[#parts + 1] = option[1] .. '=' .. tostring(value)
      end
   end
   return (table.concat(parts, ','):gsub('/', '|'):gsub(' ', '_'))
end
function OptionParser:summarize(compact) io.write(self:tostring(compact)) end
