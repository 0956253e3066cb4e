error("module '" .. ... .. "' not found: there are no windows here; image.display shows pictures", 3)
