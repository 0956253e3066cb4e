local function check(_, input, target)
   if input:nElement() ~= target:nElement() then error('input and target size mismatch') end
end
return {updateOutput = check, updateGradInput = check}
