-- Package gnuplot, which draws nothing here.
gnuplot = require 'gnuplot.silent' ('gnuplot', 'plots are not drawn here; save the numbers and draw them elsewhere')
return gnuplot
