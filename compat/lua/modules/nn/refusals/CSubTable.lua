return {updateOutput = function(_, input) input[1]:clone():csub(input[2]) end}
