-- Torch7's package graphicsmagick: pictures, which are compat.graphicsmagick's.
local Image = require 'graphicsmagick.Image'
local gm = {Image = Image}

function gm.load(path, kind) return Image(path):toTensor(kind or 'float', 'RGB', 'DHW') end

function gm.save(path, tensor, quality)
   local n = tensor:dim()
   if n == 2 or tensor:size(1) == 1 then
      local height, width = tensor:size(n - 1), tensor:size(n)
      tensor = tensor:reshape(1, height, width):expand(3, height, width)
   end
   Image(tensor, 'RGB', 'DHW'):save(path, quality)
end

function gm.info(path)
   local image = Image(path)
   local width, height = image:size()
   return {width = width, height = height, format = image:format()}
end

-- gm.convert{input = …, output = …, size = '128x128', quality = 95, …}
function gm.convert(options)
   local input, output = options.input, options.output
   if not (input and output) then error('gm.convert: input and output are the paths of files', 2) end
   local image = Image(input)
   if options.size then
      local width, height = tostring(options.size):match('^(%d+)x?(%d*)$')
      if not width then error("gm.convert: size is '" .. options.size .. "'; '128x128' is accepted", 2) end
      -- Into that box, in its own proportions.
      local old_width, old_height = image:size()
      local factor = math.min(width / old_width, (tonumber(height) or math.huge) / old_height)
      image:size(math.floor(old_width * factor + 0.5), math.floor(old_height * factor + 0.5))
   end
   if options.vflip then image:flip() end
   if options.hflip then image:flop() end
   if options.rotate then image:rotate(options.rotate) end
   image:save(output, options.quality)
end
return gm
