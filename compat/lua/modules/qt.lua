error("module '" .. ... .. "' not found: there are no windows here; image.save writes pictures", 3)
