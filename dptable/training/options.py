"""The options of a training run: the same for ``dptable train`` and for scripts."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from compat.checks import check_choice, number, whole, wrong_type

# The options that optim.sgd keeps in its state, under Torch7's names.
STATE = {
    "lr": "learningRate",
    "lr_decay": "learningRateDecay",
    "momentum": "momentum",
    "nesterov": "nesterov",
    "weight_decay": "weightDecay",
}


# The names in dptable.models.MODELS: the command tells them without loading the nets.
MODELS = ("lenet", "mlp", "resnet")


@dataclass(frozen=True)
class Range:
    """The numbers that an option accepts: ``least`` to ``most``.

    ``least`` itself is not accepted if ``above`` is set.
    """

    least: float
    most: float
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most and not (self.above and value == self.least)

    def __str__(self) -> str:
        least = f"above {_digits(self.least)}, up" if self.above else f"from {_digits(self.least)}"
        return f"a number {least} to {_digits(self.most)}"


def _digits(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


# float32 holds it, with room for products.
LARGEST = 1e30
# A checkpoint keeps numbers as doubles, and each process adds its rank times 2^32.
SEEDS = 2**52
SECONDS = Range(0, 1_000_000, above=True)


def _option(default: Any, explanation: str, **more: Any) -> Any:
    """Declare a field of ``Options``.

    Args:
        default: the default, whose type is the type of the option.
        explanation: the text in the command's help.
        more: ``choices``, the accepted values, or ``accepted``, a ``Range``.
    """
    return dataclasses.field(default=default, metadata={"help": explanation, **more})


@dataclass
class Options:
    """The options of a run.

    Every checkpoint holds them, so that ``--resume`` needs no other option.

    Raises:
        TypeError, ValueError: an option has a value that it does not accept.

    Examples:
        >>> Options(model="mlp", lr=0.1, schedule="30,40").learningRate(31)
        0.010000000000000002
    """

    data: str = _option(
        "",
        "a .t7 file {data, labels}, or {train, test} of such (default: the digits that come along)",
    )
    labels_from_zero: bool = _option(False, "the file's labels are 0…K-1: add 1 to each")
    model: str = _option("lenet", "the network", choices=MODELS)
    depth: int = _option(20, "layers of the residual net, 6n+2", accepted=Range(8, 1202))
    shortcut: str = _option("A", "shortcuts of the residual net", choices=["A", "B", "C"])
    ngpus: int = _option(2, "train on this many devices", accepted=Range(1, 1024))
    threads: bool = _option(True, "one worker thread per device")
    capture: bool = _option(False, "replay the steps as CUDA graphs")
    compile: bool = _option(False, "compute through code that PyTorch's compiler makes")
    epochs: int = _option(
        20, "passes over the training images, in all", accepted=Range(1, 1_000_000_000)
    )
    batch_size: int = _option(
        64, "images per step, on all devices together", accepted=Range(1, 1_000_000_000)
    )
    sharded: bool = _option(False, "spread the optimizer's state over the processes")
    checkpoint_format: str = _option(
        "t7",
        "files that Torch7 reads, or of a sharded run distributed: each process writes its slices",
        choices=["t7", "distributed"],
    )
    lr: float = _option(0.05, "learning rate", accepted=Range(0, LARGEST, above=True))
    schedule: str = _option(
        "cosine", "learning rate over the epochs: constant, cosine, or divided by 10 after 30,40,…"
    )
    lr_decay: float = _option(
        0.0,
        "learning rate decay per step, Torch7's learningRateDecay",
        accepted=Range(0, LARGEST),
    )
    momentum: float = _option(0.9, "momentum", accepted=Range(0, 1))
    nesterov: bool = _option(True, "Nesterov's momentum")
    weight_decay: float = _option(5e-4, "weight decay", accepted=Range(0, LARGEST))
    seed: int = _option(
        1,
        "seed of the initial weights and of the order of the images",
        accepted=Range(-SEEDS, SEEDS),
    )

    @classmethod
    def merged(cls, *tables: dict[str, Any]) -> Options:
        """Make options from tables, which may hold other keys too. Later tables win."""
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{k: v for table in tables for k, v in table.items() if k in names})

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            setattr(self, field.name, self.checked(field.name, getattr(self, field.name)))
        # A misspelt schedule is an error now, not after an epoch.
        self.learningRate(1)

    @classmethod
    def checked(cls, name: str, value: Any) -> Any:
        """Return ``value`` as the option ``name`` stores it.

        The check is here because checkpoint files hold options, too.

        Raises:
            TypeError: the value has another type.
            ValueError: the value is outside the accepted range or choices.
        """
        field = cls.__dataclass_fields__[name]
        kind: Any = type(field.default)
        if kind is int:
            value = whole(value, name)
        elif kind is float:
            value = float(number(value, name))
        elif not isinstance(value, kind):
            raise wrong_type(value, name, "True or False" if kind is bool else "a string")
        choices, accepted = field.metadata.get("choices"), field.metadata.get("accepted")
        if choices is not None:
            check_choice(value, name, choices)
        if accepted is not None and value not in accepted:
            raise ValueError(f"{name} is {value}; {accepted} is accepted")
        return value

    def learningRate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 1."""
        if self.schedule == "constant":
            return self.lr
        if self.schedule == "cosine":
            return self.lr * (1 + math.cos(math.pi * min(1.0, (epoch - 1) / self.epochs))) / 2
        try:
            drops = [whole(int(text), "epoch", 1) for text in self.schedule.split(",")]
        except ValueError:
            raise ValueError(
                f"schedule is {self.schedule!r}; 'constant', 'cosine' or epochs such as '30,40' is "
                "accepted"
            ) from None
        return self.lr * 0.1 ** sum(epoch > drop for drop in drops)
