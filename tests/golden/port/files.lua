-- text files and folders
require 'paths'
local f = io.open('notes.txt', 'w')
f:write('first line\n', 2, ' second\n', 'third\n')
f:close()
local n = 0
for line in io.lines('notes.txt') do
   n = n + 1
   print(n, line, #line)
end
local g = io.open('notes.txt')
print(g:read('*l'))
print(#g:read('*a'))
g:close()
print(io.open('missing.txt') == nil)
paths.mkdir('made')
print(paths.dirp('made'), paths.filep('notes.txt'), paths.filep('made'), paths.basename('a/b.t7'))
os.remove('notes.txt')
print(paths.filep('notes.txt'), os.getenv('NOT_THERE_AT_ALL'))
