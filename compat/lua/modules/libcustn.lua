-- The part for GPUs of package stnbhwd: the same functions.
package.loaded.libstn = nil
return require 'libstn'
