-- Penlight's path, under the name that `th` gives it.
return require 'pl.path'
