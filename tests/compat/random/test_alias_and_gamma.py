"""What Torch7's packages torchx and randomkit draw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from compat import random
from compat.random import AliasMultinomial, Generator


def test_alias_tables_draw_what_torchx_drew() -> None:
    # Recorded from Lua: torch.manualSeed(3), then uniform(0, 1) of 13 with 0.9 as the fourth.
    random.manualSeed(3)
    p = random.uniform_(torch.empty(13, dtype=torch.float64), 0, 1)
    p[3] = 0.9
    table = AliasMultinomial(p / p.sum())
    assert table.J.tolist() == [0, 4, 1, 3, 4, 9, 4, 7, 8, 9, 9, 11, 11]
    drawn = table.batchdraw(torch.empty(3, 7, dtype=torch.int64))
    assert drawn.tolist() == [
        [9, 9, 9, 3, 8, 1, 9], [11, 7, 5, 11, 9, 1, 8], [4, 11, 1, 3, 9, 13, 9],
    ]  # fmt: skip
    assert random.random() == 3835685425


def test_alias_tables_draw_by_probability() -> None:
    p = torch.tensor([0.05, 0.5, 0, 0.2, 0.25])
    table, generator = AliasMultinomial(p), Generator(1)
    drawn = table.batchdraw(torch.empty(20000, dtype=torch.int64), generator=generator)
    shares = torch.bincount(drawn - 1, minlength=5) / 20000
    torch.testing.assert_close(shares, p, rtol=0, atol=0.01)
    with pytest.raises(TypeError, match=r"output is torch\.float32; an int64 tensor"):
        table.batchdraw(torch.empty(3))
    with pytest.raises(ValueError, match="p has 2 dimensions; 1 is accepted"):
        AliasMultinomial(torch.ones(2, 2))


def test_gammas_are_those_that_numpy_has_of_randomkit() -> None:
    shapes = torch.tensor([0.3, 1, 2.5, 40, 0.9], dtype=torch.float64)
    ours = random.gamma_(torch.empty_like(shapes), shapes, 2, generator=Generator(5))
    theirs = np.random.RandomState(5).gamma(shapes.numpy(), 2)
    assert ours.tolist() == theirs.tolist()
    generator = Generator(5)
    first = random.gamma(2.5, generator=generator)
    generator.manualSeed(5)
    assert random.gamma(2.5, generator=generator) == first
    assert random.gamma(2.5, generator=generator) != first


def test_gammas_share_the_words_of_all_draws() -> None:
    one, other = Generator(7), Generator(7)
    random.gamma(1, generator=one)  # an exponential, of two words
    random.random(generator=other), random.random(generator=other)
    assert random.random(generator=one) == random.random(generator=other)
    with random.refused("not now"), pytest.raises(ValueError, match="not now"):
        random.gamma(1, generator=one)
    with pytest.raises(ValueError, match=r"scale has 0\.0; numbers above 0 are accepted"):
        random.gamma_(torch.empty(2), 1, torch.tensor([1.0, 0]))
