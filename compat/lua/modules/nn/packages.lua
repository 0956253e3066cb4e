-- Classes that compat.nn has and that in Lua other packages bring.
local function set(text)
   local names = {}
   for name in text:gmatch('%S+') do names[name] = true end
   return names
end
return {
   nngraph = set'ModuleFromCriterion gModule',
   dpnn = set[[ArgMax BinaryClassReward BinaryLogisticRegression CategoricalEntropy Clip FireModule Inception
      NCECriterion NCEModule PCAColorTransform Reinforce ReinforceBernoulli ReinforceCategorical ReinforceGamma
      ReinforceNormal ReverseTable Serial SimpleColorTransform SpatialBinaryConvolution
      SpatialBinaryLogisticRegression SpatialFeatNormalization SpatialGlimpse SpatialRegionDropout
      SpatialUniformCrop TotalDropout VRClassReward]],
   nnx = set'SpatialClassifier SpatialNormalization SpatialPadding SpatialReSampling',
   rnn = set[[AbstractRecurrent AbstractSequencer BiSequencer BiSequencerLM CopyGrad FastLSTM GRU LinearNoBias LinearRNN
      LookupRNN LookupTableMaskZero LSTM MaskZero MaskZeroCriterion MuFuRu NormStabilizer RecGRU RecLSTM Recurrence
      Recurrent RecurrentAttention Recursor Repeater RepeaterCriterion ReverseSequence ReverseUnreverse SAdd SeqBGRU
      SeqBLSTM SeqBRNN SeqGRU SeqLSTM SeqLSTMP SeqReverseSequence Sequencer SequencerCriterion StepGRU StepLSTM
      TrimZero]],
   cunn = set'DataParallelTable',
   torch_rnn = set'LanguageModel VanillaRNN TemporalCrossEntropyCriterion',
}
