require 'torch'
local paths = require 'paths'
local names = {'', '/', '//', 'a', 'a/', '/a', '/a/', 'a/b', 'a//b//', '/a/b.lua', 'a/b.tar.gz', './x', '../x', '//a', '//a//b',
               '.', '..', 'b.', '.b', 'a.b/c'}
for _, n in ipairs(names) do
   print(n, '|', paths.basename(n), paths.basename(n, 'gz'), paths.basename(n, '.lua'), paths.dirname(n), (paths.extname(n)))
   for _, m in ipairs(names) do print(n, m, paths.concat('/x/y', n, m)) end
end
print(paths.concat() == paths.cwd(), select('#', paths.extname('a')))
print(pcall(paths.basename))
print(pcall(paths.concat, 'a', {}))
print(paths.dirp('.'), paths.filep('.'), paths.filep('nothing'), paths.dir('nothing'))
print(paths.mkdir('d/e/f'))
print(paths.mkdir('d'))
print(paths.rmdir('nothing'))
local f = io.open('d/e/g.txt', 'w') f:write('x') f:close()
local found = {}
for name in paths.files('d/e') do found[#found + 1] = name end
for name in paths.files('d/e', 'txt$') do found[#found + 1] = 'file ' .. name end
for name in paths.iterdirs('d/e') do found[#found + 1] = 'dir ' .. name end
for name in paths.iterfiles('d/e') do found[#found + 1] = 'plain ' .. name end
table.sort(found)
print(table.concat(found, ','))
print(paths.rmall('d'), paths.rmall('d', 'yes'), paths.dirp('d'))
print(paths.basename(paths.thisfile()), paths.basename(paths.thisfile('x.lua')))
print(paths.findprogram('sh') ~= nil, paths.findprogram('no-such-program'))
