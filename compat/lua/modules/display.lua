-- Package display (pictures and plots in a browser), which shows nothing here.
return require 'gnuplot.silent' ('display', 'nothing is shown here; image.save(name, image.toDisplayTensor{...}) keeps pictures')
