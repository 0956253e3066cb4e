"""Train a net to tell the next character of a text: char-rnn, ported.

::

    python examples/char_rnn/train.py -max_epochs 3
    python examples/char_rnn/train.py -data_dir data/tinyshakespeare -rnn_size 512 -num_layers 3
    python examples/char_rnn/train.py -init_from cv/lm_lstm_epoch1.00_1.2000.t7 -data_dir data/mine
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import models
import text
import torch
from torch import Tensor

from compat import optim, t7
from compat import torch as torch7
from compat.checks import check_choice, whole
from compat.cmdline import Options
from dptable.training import INTERRUPTED, stop_requests

WHOLE = ("rnn_size", "num_layers", "seq_length", "batch_size", "max_epochs", "print_every")


def parse(arg: Sequence[str] | None = None) -> Options:
    cmd = torch7.CmdLine()
    cmd.text("Train a character-level language model.")
    cmd.option("-data_dir", "", "folder with input.txt; without it, a made-up text")
    cmd.option("-rnn_size", 128, "size of the states")
    cmd.option("-num_layers", 2, "number of layers")
    cmd.option("-model", "lstm", f"{', '.join(models.NAMES)}")
    cmd.option("-learning_rate", 2e-3, "learning rate")
    cmd.option("-learning_rate_decay", 0.97, "what it is multiplied by after an epoch")
    cmd.option("-learning_rate_decay_after", 10, "from this epoch on")
    cmd.option("-decay_rate", 0.95, "decay of rmsprop's averages")
    cmd.option("-dropout", 0, "probability of dropping a feature after each layer")
    cmd.option("-seq_length", 50, "characters to go back through")
    cmd.option("-batch_size", 50, "sequences at a time")
    cmd.option("-max_epochs", 50, "number of epochs")
    cmd.option("-grad_clip", 5, "largest gradient of a parameter")
    cmd.option("-train_frac", 0.95, "part of the text to train on")
    cmd.option("-val_frac", 0.05, "part of the text to validate on")
    cmd.option("-init_from", "", "checkpoint to begin with, of char-rnn or torch-rnn")
    cmd.option("-seed", 123, "seed")
    cmd.option("-print_every", 1, "steps between lines")
    cmd.option("-eval_val_every", 1000, "steps between checkpoints")
    cmd.option("-checkpoint_dir", "cv", "folder of checkpoints")
    cmd.option("-savefile", "lstm", "their names: lm_SAVEFILE_epoch…")
    opt = cmd.parse(arg)
    check_choice(opt.model, "-model", models.NAMES)
    for name in (*WHOLE, "eval_val_every"):
        opt[name] = whole(opt[name], f"-{name}", 1)
    return opt


class Trainer:
    """The loss and the steps over ``batches``. ``losses`` are those of all steps."""

    def __init__(self, model: Any, batches: text.Batches, opt: Options) -> None:
        self.model, self.batches, self.opt = model, batches, opt
        self.state = {"learningRate": opt.learning_rate, "alpha": opt.decay_rate}
        self.losses: list[float] = []

    def feval(self, x: Tensor) -> tuple[float, Tensor]:
        self.model.grad_params.zero_()
        batch = self.batches.train[len(self.losses) % len(self.batches.train)]
        loss = self.model.loss(*batch, backward=True)
        self.model.grad_params.clamp_(-self.opt.grad_clip, self.opt.grad_clip)
        return loss, self.model.grad_params

    def step(self) -> float:
        """A step; raises ArithmeticError when the loss is no number or three times the first."""
        _, [loss] = optim.rmsprop(self.feval, self.model.params, self.state)
        self.losses.append(loss)
        if not math.isfinite(loss) or loss > 3 * self.losses[0]:
            raise ArithmeticError(
                f"the loss is {loss:g} in step {len(self.losses)}; try -learning_rate below "
                f"{self.state['learningRate']:g}"
            )
        done, decay = len(self.losses) / len(self.batches.train), self.opt.learning_rate_decay
        if done.is_integer() and decay < 1 and done >= self.opt.learning_rate_decay_after:
            self.state["learningRate"] *= decay
        return loss

    def validate(self) -> float:
        """The mean loss of what is not trained on, as another text; the states stay."""
        kept = getattr(self.model, "state", [])
        self.model.reset()
        losses = [self.model.loss(*batch, backward=False) for batch in self.batches.val]
        self.model.reset()
        if isinstance(self.model, models.CharRNN):
            self.model.state = kept
        return sum(losses) / len(losses)

    def save(self) -> Path:
        """Write a checkpoint as the Lua programs do."""
        count, val_loss = len(self.losses), self.validate()
        epoch = count / len(self.batches.train)
        folder = Path(self.opt.checkpoint_dir)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"lm_{self.opt.savefile}_epoch{epoch:.2f}_{val_loss:.4f}.t7"
        table = {"opt": {**self.opt, **self.model.opt}, "train_losses": self.losses}
        table |= {"val_loss": val_loss, "val_losses": {count: val_loss}, "i": count, "epoch": epoch}
        t7.save(path, table | self.model.fields())
        print(f"saving checkpoint to {path}")
        return path


def main(arg: Sequence[str] | None = None) -> int:
    opt = parse(arg)
    torch7.manualSeed(opt.seed)
    model = models.load(opt.init_from) if opt.init_from else None
    vocabulary = None if model is None else model.vocabulary
    sizes = opt.batch_size, opt.seq_length, opt.train_frac, opt.val_frac
    batches = text.Batches(text.read(opt.data_dir), *sizes, vocabulary)
    if model is None:
        model = models.new(opt, batches.vocabulary)
    print(f"{len(batches.vocabulary)} characters, {model.params.numel()} parameters")
    trainer = Trainer(model, batches, opt)
    count = opt.max_epochs * len(batches.train)
    timer = torch7.Timer()
    with stop_requests() as stopped:
        for i in range(1, count + 1):
            timer.reset()
            loss = trainer.step()
            if i % opt.print_every == 0:
                epoch = i / len(batches.train)
                print(
                    f"{i}/{count} (epoch {epoch:.3f}), train_loss = {loss:.8f}, "
                    f"time/batch = {timer.time().real:.4f}s"
                )
            if i % opt.eval_val_every == 0 or i == count or stopped():
                trainer.save()
            if stopped():
                print("Interrupted")
                return stopped.exit_code
    return 0


if __name__ == "__main__":
    # Steps are small: operators that each start a thread per core would be slower.
    torch.set_num_threads(1)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except (ArithmeticError, OSError, TypeError, ValueError) as error:
        sys.exit(f"train.py: {error}")
