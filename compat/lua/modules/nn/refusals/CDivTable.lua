return {updateOutput = function(_, input) input[1]:clone():cdiv(input[2]) end}
