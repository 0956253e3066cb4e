-- pl.lapp: options of a command line, declared by the text of its help.
local lapp = {callback = nil, show_usage_error = true}

local TYPES = {
   string = {}, boolean = {},
   number = {convert = tonumber, default = 0}, int = {convert = tonumber, default = 0}, float = {convert = tonumber, default = 0},
   ['file-in'] = {}, ['file-out'] = {},
}
local own = {}
function lapp.add_type(name, converter, constraint) own[name] = {converter = converter, constraint = constraint} end

local function quit(message)
   if message then io.stderr:write((arg and arg[0] or 'lapp'):gsub('^.*/', '') .. ':' .. message .. '\n\n') end
   if lapp.show_usage_error ~= false and lapp.usage_text then print(lapp.usage_text) end
   os.exit(1)
end
function lapp.quit(message, no_usage)
   if no_usage then
      io.stderr:write(message, '\n')
      os.exit(1)
   end
   quit(message)
end
function lapp.error(message, no_usage) lapp.quit(message, no_usage) end
function lapp.assert(condition, message) if not condition then lapp.error(message) end end

local FILES = {stdin = io.stdin, stdout = io.stdout, stderr = io.stderr}
local function open(value, mode)
   if FILES[value] then return FILES[value] end
   local file, message = io.open(value, mode)
   return file or quit(message)
end

-- What the text after an option says: its type and its default.
local function kind_of(text, option)
   local inner = text:match('^%((.-)%)')
   if not inner then return end
   local rest = inner
   -- "(default 0.1)", "(number)", "(1..10)", "(number default 3)", "(optional string)", "(a|b|c)"
   if rest:find('^optional%s') then
      option.optional = true
      rest = rest:gsub('^optional%s+', '')
   end
   local kind, default = rest:match('^(.-)%s*default%s+(.+)$')
   if not default then kind = rest else option.default = default end
   kind = kind:gsub('%s+$', '')
   if option.default then
      local quoted = option.default:match('^["\'](.*)["\']$')
      if quoted then option.default, option.is_quoted = quoted, true end
   end
   local low, high = kind:match('^([%d.+-]-)%.%.([%d.+-]+)$')
   if low then
      option.type, option.low, option.high = 'number', tonumber(low), tonumber(high)
   elseif kind:find('|') then
      option.type, option.choices = 'string', {}
      for choice in kind:gmatch('[^|]+') do option.choices[choice] = true end
      option.choice_text = kind
   elseif kind ~= '' then option.type = kind
   elseif option.default then
      if FILES[option.default] then option.type = option.default == 'stdin' and 'file-in' or 'file-out'
      elseif not option.is_quoted and tonumber(option.default) then option.type = 'number'
      elseif option.default == 'true' or option.default == 'false' then option.type = 'boolean'
      else option.type = 'string' end
   end
   if not (TYPES[option.type] or own[option.type]) then error('unknown type ' .. tostring(option.type), 0) end
end

function lapp.declared(text)
   local options, arguments = {}, {}
   for line in (text .. '\n'):gmatch('([^\n]*)\n') do
      local option, rest = {}, nil
      local body = line:gsub('^%s+', '')
      local short, long, after = body:match('^%-(%w),%s*%-%-([%w_%-]+)(.*)$')
      if not short then
         long, after = body:match('^%-%-([%w_%-]+)(.*)$')
         if not long then short, after = body:match('^%-(%w)(.*)$') end
      end
      if short or long then
         -- Lines such as "-----" or "-1 is no option" are text.
         rest = after
         option.name = (long or short):gsub('%-', '_')
         option.short, option.long = short, long
         if rest:find('^%.%.%.') then
            option.multiple = true
            rest = rest:sub(4)
         end
         rest = rest:gsub('^%s+', '')
         kind_of(rest, option)
         if not option.type then option.type, option.default = 'boolean', 'false' end
         options[#options + 1] = option
      else
         local name, dots, description = body:match('^<([%w_%-]+)>(%.*)%s*(.*)$')
         if name then
            option.name, option.argument, option.multiple = name:gsub('%-', '_'), true, dots == '...'
            kind_of(description, option)
            option.type = option.type or 'string'
            arguments[#arguments + 1] = option
         end
      end
   end
   return options, arguments
end

local function convert(option, value)
   local kind = option.type
   local label = option.name
   if own[kind] then
      local converter = own[kind].converter
      if type(converter) == 'function' then value = converter(value)
      elseif type(converter) == 'string' and TYPES[converter] and TYPES[converter].convert then
         value = TYPES[converter].convert(value)
      end
      if own[kind].constraint then own[kind].constraint(value) end
      return value
   elseif kind == 'file-in' then return open(value, 'r')
   elseif kind == 'file-out' then return open(value, 'w')
   elseif kind == 'boolean' then return value == true or value == 'true'
   elseif kind == 'string' then
      if option.choices and not option.choices[value] then
         quit(("parameter '%s': value '%s' not in %s"):format(label, value, option.choice_text))
      end
      return value
   end
   local number = tonumber(value)
   if not number then quit(label .. ": unable to convert to number: " .. tostring(value)) end
   if kind == 'int' and number % 1 ~= 0 then quit(label .. ": not an integer: " .. tostring(value)) end
   if option.low and (number < option.low or number > option.high) then
      quit(label .. (' out of range [%s,%s]'):format(option.low, option.high))
   end
   return number
end

function lapp.process_options_string(text, args)
   lapp.usage_text = text
   local options, arguments = lapp.declared(text)
   local by = {}
   for _, option in ipairs(options) do
      if option.short then by[option.short] = option end
      if option.long then by[option.long] = option end
   end
   local results, given = {}, {}
   local function set(option, value)
      value = convert(option, value)
      if option.multiple then
         if not given[option] then results[option.name] = {} end
         table.insert(results[option.name], value)
      else results[option.name] = value end
      given[option] = true
      if lapp.callback then lapp.callback(option.name, value, results) end
   end

   local words = {}
   for _, word in ipairs(args or arg or {}) do words[#words + 1] = word end
   local i, next_argument, only_arguments = 1, 1, false
   local function value_for(option, label)
      i = i + 1
      if words[i] == nil then quit(label .. ' was expecting a value') end
      return words[i]
   end
   while i <= #words do
      local word = words[i]
      local long, attached = word:match('^%-%-([^=]+)=?(.*)$')
      local short = not long and word:match('^%-(%a.*)$')
      if only_arguments or not (long or short) or word == '--' then
         if word == '--' and not only_arguments then only_arguments = true
         else
            local argument = arguments[next_argument]
            if argument then
               set(argument, word)
               if not argument.multiple then next_argument = next_argument + 1 end
            else table.insert(results, word) end
         end
      elseif long or by[short] then
         local name = long or short
         local option = by[name] or by[name:gsub('-', '_')]
         if name == 'help' or name == 'h' and not option then
            print(text)
            os.exit(0)
         end
         if not option then quit("unrecognized parameter: " .. name) end
         if option.type == 'boolean' then
            if long and attached ~= '' then set(option, attached)
            else set(option, tostring(option.default ~= 'true')) end
         else set(option, attached and attached ~= '' and attached or value_for(option, name)) end
      else
         -- -abc is -a -b -c; -n5 is -n 5.
         local k = 1
         while k <= #short do
            local name = short:sub(k, k)
            local option = by[name]
            if name == 'h' and not option then
               print(text)
               os.exit(0)
            end
            if not option then quit("unrecognized parameter: " .. name) end
            if option.type == 'boolean' then
               set(option, tostring(option.default ~= 'true'))
               k = k + 1
            else
               local rest = short:sub(k + 1):gsub('^=', '')
               set(option, rest ~= '' and rest or value_for(option, name))
               break
            end
         end
      end
      i = i + 1
   end
   for _, group in ipairs{options, arguments} do
      for _, option in ipairs(group) do
         if not given[option] then
            if option.default ~= nil then
               local value = convert(option, option.default)
               results[option.name] = option.multiple and {value} or value
            elseif option.multiple then results[option.name] = {}
            elseif not option.optional then quit("missing required parameter: " .. option.name) end
         end
      end
   end
   return results
end

return setmetatable(lapp, {__call = function(_, text, args) return lapp.process_options_string(text, args) end})
