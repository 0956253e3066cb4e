-- csvigo.File: a file of comma-separated values, row by row.

-- The entries of a line; quotes around one may hold separators, and doubled quotes. A blank as
-- separator stands for any number of them.
local function split(line, separator)
   local plain = separator ~= ' '
   local pattern = plain and separator or '%s+'
   local row, at = {}, 1
   while true do
      local value, first, last
      if line:sub(at, at) == '"' then
         local close = at
         repeat
            close = line:find('"', close + 1, true)
            if not close then error('unmatched " in ' .. line) end
            local doubled = line:sub(close + 1, close + 1) == '"'
            if doubled then close = close + 1 end
         until not doubled
         value = line:sub(at + 1, close - 1):gsub('""', '"')
         first, last = line:find(pattern, close + 1, plain)
      else
         first, last = line:find(pattern, at, plain)
         value = line:sub(at, (first or #line + 1) - 1)
      end
      row[#row + 1] = value
      if not first then return row end
      at = last + 1
   end
end

local function joined(row, separator, nan_as_missing)
   local out = {}
   for i, value in ipairs(row) do
      local text = nan_as_missing and value ~= value and '' or tostring(value)
      if text:find(separator, 1, true) or text:find('["\n]') then text = '"' .. text:gsub('"', '""') .. '"' end
      out[i] = text
   end
   return table.concat(out, separator)
end

local File = torch.class('csvigo.File')

function File:__init(path, mode, separator, nan_as_missing)
   self.filepath, self.separator = path, separator or ','
   self.nan_as_missing = nan_as_missing or false
   local message
   self.file, message = io.open(path, mode)
   if not self.file then error(message) end
end

function File:close() self.file:close() end
function File:lines() return self.file:lines() end

-- The next row; nil at the end.
function File:read()
   local line = self.file:read()
   return line and split(line:gsub('\r', ''), self.separator)
end

function File:readall()
   local rows = {}
   for row in self.read, self do rows[#rows + 1] = row end
   return rows
end

function File:write(row)
   local ok, message = self.file:write(joined(row, self.separator, self.nan_as_missing), '\n')
   if not ok then error(message) end
end

function File:writeall(rows)
   for _, row in ipairs(rows) do self:write(row) end
   return true
end

return csvigo.File
