from __future__ import annotations

import torch
from torch.nn import functional as F

from compat import nn


def test_a_sample_is_normalised_as_by_pytorch() -> None:
    module = nn.LayerNormalization(5, 0.5, 1e-3)
    scale, shift = module.parameters()[0]
    assert torch.equal(shift, torch.full((5,), 0.5))
    scale.copy_(torch.rand(5))
    x = torch.randn(5)
    # eps joins the sum of the squares here, their mean there.
    wanted = F.layer_norm(x, (5,), scale, shift, 1e-3 / 5)
    torch.testing.assert_close(module.forward(x), wanted)


def test_a_batch_is_centred_with_the_means_in_turn() -> None:
    module = nn.LayerNormalization(4, None, None, False)
    assert module.parameters() == ([], [])
    x = torch.randn(3, 4)
    means = x.mean(1)
    centred = x - torch.stack([means[k % 3] for k in range(12)]).view(3, 4)
    wanted = 2 * centred / centred.norm(dim=1, keepdim=True)
    torch.testing.assert_close(module.forward(x), wanted)
