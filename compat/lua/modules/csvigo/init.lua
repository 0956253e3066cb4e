-- Package csvigo: tables in files of comma-separated values, whose entries are strings.
require 'torch'
local xlua = require 'xlua'
csvigo = {}
local File = require 'csvigo.File'

local function teller(verbose)
   return function(...) if verbose then print('<csv>', ...) end end
end
local function expanded(path) return (path:gsub('^~', os.getenv('HOME') or '~')) end

local function read(path, separator)
   local file = File(path, 'r', separator)
   local rows = file:readall()
   file:close()
   return rows
end

-- Columns by name, and their names in order.
local function columns(rows, header, skip)
   local first = rows[1 + skip] or {}
   if header == 'auto' or header == nil then header = tonumber(first[1]) == nil
   elseif type(header) == 'string' then header = header == 'true'
   end
   local names, found = {}, {}
   for i, value in ipairs(first) do
      names[i] = header and value or 'var_' .. i
      found[names[i]] = {}
   end
   for r = 1 + skip + (header and 1 or 0), #rows do
      for i, value in ipairs(rows[r]) do table.insert(found[names[i]], value) end
   end
   return found, names
end

-- The function that a table loaded for queries is.
local function querying(found)
   return function(what, wanted)
      what = what or 'all'
      if what == 'all' then return found end
      if what == 'vars' then
         local names = {}
         for name in pairs(found) do names[#names + 1] = name end
         return names
      end
      if what ~= 'union' and what ~= 'inter' then
         print("query('all'), query('vars'), query('union', {name = {values}}), query('inter', {name = {values}})")
         return
      end
      local hits, n, variables = {}, 0, 0
      for name, values in pairs(wanted) do
         variables = variables + 1
         local set = {}
         for _, value in ipairs(type(values) == 'table' and values or {values}) do set[tostring(value)] = true end
         for i, value in ipairs(found[name]) do
            n = math.max(n, i)
            if set[value] then hits[i] = (hits[i] or 0) + 1 end
         end
      end
      local chosen = {}
      for name, values in pairs(found) do
         chosen[name] = {}
         for i = 1, n do
            if hits[i] and (what == 'union' or hits[i] == variables) then table.insert(chosen[name], values[i]) end
         end
      end
      return chosen
   end
end

function csvigo.load(...)
   local args, path, separator, mode, header, verbose, skip = xlua.unpack({...}, 'csvigo.load', 'Load a CSV file',
      {arg = 'path', type = 'string', help = 'path to file', req = true},
      {arg = 'separator', type = 'string', help = 'separator', default = ','},
      {arg = 'mode', type = 'string', help = 'raw | tidy | query | large', default = 'tidy'},
      {arg = 'header', type = 'string', help = 'whether the file has names of variables: true | false | auto', default = 'auto'},
      {arg = 'verbose', type = 'boolean', help = 'tell what is done', default = true},
      {arg = 'skip', type = 'number', help = 'skip this many lines', default = 0},
      {arg = 'column_order', type = 'boolean', help = 'tidy: give the names in order, too', default = false})
   local tell = teller(verbose)
   if not ('raw tidy query large '):find(mode .. ' ', 1, true) then error('unknown mode') end
   tell('parsing file: ' .. path)
   local rows = read(expanded(path), separator)
   if mode == 'raw' or mode == 'large' then
      tell('parsing done')
      return rows
   end
   tell('tidying up entries')
   local found, names = columns(rows, header, skip)
   if mode == 'query' then
      tell('generating reversed index for fast queries')
      tell("returning query closure, type query('help') to get help")
      return querying(found)
   end
   tell('returning tidy table')
   if args.column_order then return names, found end
   return found
end

function csvigo.save(...)
   local args, path, data, separator, mode, header, verbose = xlua.unpack({...}, 'csvigo.save', 'Save a CSV file',
      {arg = 'path', type = 'string', help = 'path to file', req = true},
      {arg = 'data', type = 'table', help = 'what to save', req = true},
      {arg = 'separator', type = 'string', help = 'separator', default = ','},
      {arg = 'mode', type = 'string', help = 'raw | tidy | query', default = 'autodetect'},
      {arg = 'header', type = 'boolean', help = 'write names of variables', default = true},
      {arg = 'verbose', type = 'boolean', help = 'tell what is done', default = true},
      {arg = 'column_order', type = 'table', help = 'names in the order of columns'},
      {arg = 'nan_as_missing', type = 'boolean', help = 'write nothing for nan', default = false})
   local tell = teller(verbose)
   tell('writing to file: ' .. path)
   if type(data) == 'function' then data = data('all') end
   local rows = data
   if mode == 'tidy' or mode == 'query' or mode == 'autodetect' and #data == 0 then
      tell('exporting tidy table to raw CSV')
      local names = args.column_order
      if not names then
         names = {}
         for name in pairs(data) do names[#names + 1] = name end
      end
      rows = {header and names or nil}
      for i = 1, names[1] and #data[names[1]] or 0 do
         local row = {}
         for c, name in ipairs(names) do row[c] = data[name][i] end
         rows[#rows + 1] = row
      end
   end
   local file = File(expanded(path), 'w', separator, args.nan_as_missing)
   file:writeall(rows)
   file:close()
   tell('writing done')
end

return csvigo
