"""A text as numbers, in batches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

Batch = tuple[Tensor, Tensor]

_SUBJECTS = ("the cat", "a dog", "the old man", "my sister", "the queen")
_VERBS = ("sees", "likes", "follows", "does not know", "paints")
_OBJECTS = ("the sea", "a red house", "the moon", "two birds", "an apple tree")


def read(folder: str) -> str:
    """``input.txt`` in ``folder``; without a folder, a text that is made up."""
    if not folder:
        return made()
    return (Path(folder) / "input.txt").read_text(encoding="utf-8", errors="replace")


def made(sentences: int = 1500, seed: int = 0) -> str:
    """Sentences of a small grammar."""
    generator = torch.Generator().manual_seed(seed)
    picks = torch.randint(5, (sentences, 3), generator=generator).tolist()
    return "".join(f"{_SUBJECTS[s]} {_VERBS[v]} {_OBJECTS[o]}.\n" for s, v, o in picks)


class Batches:
    """A text cut into ``batch_size`` strands, each of which goes on from batch to batch.

    Fields: ``vocabulary``, from characters to numbers from 1; ``train`` and ``val``, lists of pairs
    of characters and those that follow, ``batch_size x seq_length``.
    """

    def __init__(
        self,
        text: str,
        batch_size: int,
        seq_length: int,
        train_frac: float,
        val_frac: float,
        vocabulary: Mapping[str, int] | None = None,
    ) -> None:
        known = {c: i for i, c in enumerate(sorted(set(text)), 1)}
        self.vocabulary = dict(known if vocabulary is None else vocabulary)
        strange = sorted(set(text) - self.vocabulary.keys())
        if strange:
            raise ValueError(f"the text has {strange}, which the checkpoint's vocabulary has not")
        data = torch.tensor([self.vocabulary[c] for c in text])
        count = len(data) // (batch_size * seq_length)
        data = data[: count * batch_size * seq_length]
        rows = [each.view(batch_size, -1).split(seq_length, 1) for each in (data, data.roll(-1))]
        pairs = list(zip(*rows, strict=True))
        train = int(count * train_frac)
        # What is neither to train nor to validate on is left for tests.
        val = int(count * val_frac) if train_frac + val_frac < 1 else count - train
        self.train, self.val = pairs[:train], pairs[train : train + val]
        if not self.train or not self.val:
            raise ValueError(
                f"the text has {count} batches of {batch_size} x {seq_length}; enough of them to "
                "train and to validate on are accepted"
            )
