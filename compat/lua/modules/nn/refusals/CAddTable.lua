return {updateOutput = function(_, input)
   local output = input[1]:clone()
   for i = 2, #input do output:add(input[i]) end
end}
