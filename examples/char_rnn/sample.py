"""Write a text with a checkpoint of char-rnn, of torch-rnn or of train.py.

::

    python examples/char_rnn/sample.py cv/lm_lstm_epoch3.00_0.2500.t7 -length 300 -primetext "the "
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import models

from compat import random
from compat import torch as torch7


def sample(
    model: models.Model,
    length: int,
    primetext: str = "",
    drawn: bool = True,
    temperature: float = 1,
) -> str:
    """``length`` characters that follow ``primetext``: ``drawn``, or always the likeliest."""
    characters = {i: c for c, i in model.vocabulary.items()}
    strange = sorted(set(primetext) - model.vocabulary.keys())
    if strange:
        raise ValueError(f"primetext has {strange}, which is not in the vocabulary")
    model.reset()
    scores = model.scores(None)
    for character in primetext:
        scores = model.scores(model.vocabulary[character])
    written = primetext
    for _ in range(length):
        weights = (scores / temperature).double().softmax(0)
        number = int(random.multinomial(weights, 1)) if drawn else int(weights.argmax()) + 1
        written += characters[number]
        scores = model.scores(number)
    return written


def main(arg: Sequence[str] | None = None) -> None:
    cmd = torch7.CmdLine()
    cmd.text("Sample from a character-level language model.")
    cmd.argument("-model", "checkpoint")
    cmd.option("-seed", 123, "seed")
    cmd.option("-sample", 1, "0 for the likeliest character, 1 to draw")
    cmd.option("-primetext", "", "what the text begins with")
    cmd.option("-length", 2000, "number of characters")
    cmd.option("-temperature", 1, "below 1 for likelier characters, above 1 for unlikelier ones")
    opt = cmd.parse(arg)
    if opt.temperature <= 0:
        raise ValueError(f"-temperature is {opt.temperature}; a positive number is accepted")
    torch7.manualSeed(opt.seed)
    model = models.load(opt.model)
    print(sample(model, int(opt.length), opt.primetext, bool(opt.sample), opt.temperature))


if __name__ == "__main__":
    try:
        main()
    except (OSError, TypeError, ValueError) as error:
        sys.exit(f"sample.py: {error}")
