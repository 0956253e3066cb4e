-- Torch7's package hdf5 (torch-hdf5), which is compat.hdf5.
local t7 = torch._t7
t7.bring('compat.hdf5')
hdf5 = t7.packages.hdf5 or {}
t7.packages.hdf5 = hdf5
hdf5.open = t7.functions('compat.hdf5').open
hdf5.HDF5File.open = hdf5.open
return hdf5
