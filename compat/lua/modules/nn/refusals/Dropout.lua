return {__init = function(_, p)
   if p >= 1 or p < 0 then error('<Dropout> illegal percentage, must be 0 <= p < 1') end
end}
