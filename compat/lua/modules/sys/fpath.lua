-- Folder and name of the file that calls.
return function()
   local file = debug.getinfo(2, 'S').source:gsub('@', '')
   file = paths.concat(file)
   return paths.dirname(file), paths.basename(file)
end
