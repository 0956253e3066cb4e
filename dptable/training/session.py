"""A training run from start to end: epochs with progress bars, checkpoints, final report."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from compat import optim
from compat.checks import number, whole, wrong_type
from compat.terminal import printable, say
from dptable import checkpoints, data
from dptable.training.curves import plot
from dptable.training.stopping import stop_requests, tolerate_closed_output
from dptable.training.trainer import Tally, Trainer

_HISTORY = ("trainLoss", "trainAccuracy", "testLoss", "testAccuracy")


class Session:
    """Run the epochs that are left, save checkpoints and report the result.

    Args:
        trainer: what trains and tests the net.
        dataset: the images to train on and to test on.
        folder: the folder of the checkpoints; it is made if it is missing.
        latest: the table of the checkpoint to resume from, or an empty table.
        places: the names of the devices, for the first line that is printed.
    """

    def __init__(
        self,
        trainer: Trainer,
        dataset: data.Dataset,
        folder: Path,
        latest: dict[str, Any],
        places: list[str],
    ) -> None:
        self.trainer = trainer
        self.job = trainer.job
        self.opt = trainer.opt
        self.dataset = dataset
        self.folder = folder
        self.places = places
        self.epoch = whole(latest.get("epoch", 0), "epoch", 0)
        self.tally = Tally.from_table(latest.get("tally", {}))
        self.history = _checked_history(latest.get("history") or [])

    def run(self) -> int:
        self._introduce()
        confusion = None
        if self.job.rank == 0:
            self.folder.mkdir(parents=True, exist_ok=True)  # a failure now costs no epoch
        with stop_requests() as stopped, tolerate_closed_output(stopped):
            while self.epoch < self.opt.epochs:
                confusion = self._run_epoch(stopped)
                self._save()
                if any(self.job.total(stopped())):
                    print("Interrupted; the checkpoint holds every completed step.")
                    self._print_resume_command()
                    # That of the process which was asked; the others stop because it does.
                    return max(self.job.everybody(stopped.exit_code))
        if confusion is None:
            _, confusion = self.trainer.test(self.dataset.test, self.dataset.classes)
        if self.job.rank == 0:
            self._report(confusion)
        return 0

    def _introduce(self) -> None:
        parameters = self.trainer.params.numel()
        channels, height, width = self.dataset.size
        print(
            f"{parameters:,} parameters on {', '.join(self.places)}{self._processes()}; "
            f"{len(self.dataset.train):,} images of {channels}x{height}x{width} to train on, "
            f"{len(self.dataset.test):,} to test on, {self.dataset.classes} classes"
        )
        if exposed := self.job.exposure():
            print(f"Other machines reach {exposed}: keep strangers out (docs/trust.md)")
        if self.epoch or self.tally.step:
            print(f"Resuming after epoch {self.epoch}, step {self.tally.step}")
        if self.epoch >= self.opt.epochs:
            print(f"Nothing is left to train of --epochs {self.opt.epochs}")

    def _processes(self) -> str:
        return f" in {self.job.size} processes" if self.job.size > 1 else ""

    def _run_epoch(self, stopped: Callable[[], bool]) -> optim.ConfusionMatrix | None:
        """Train for the rest of an epoch, then test.

        Returns:
            The confusion matrix of the test, or None if the epoch was interrupted.
        """
        epoch, split = self.epoch + 1, self.dataset.train
        on_terminal = sys.stderr.isatty()
        interval = 0.1 if on_terminal else 5
        with tqdm(
            desc=f"Epoch {epoch}/{self.opt.epochs}",
            total=len(split),
            initial=self.tally.images,
            unit=" images",
            leave=False,
            # A file is not rewritten as a terminal's line is.
            mininterval=interval,
            delay=0 if on_terminal else interval,
            disable=self.job.rank > 0,
        ) as bar:
            start, begin = time.perf_counter(), self.tally.images
            for tally in self.trainer.train(epoch, split, self.tally, stopped):
                bar.set_postfix_str(
                    f"loss {tally.mean_loss:.4f}, accuracy {tally.accuracy:.1f} %", refresh=False
                )
                bar.update(tally.images - bar.n)
            rate = (self.tally.images - begin) / (time.perf_counter() - start)
        if self.tally.images < len(split):
            return None

        loss, confusion = self.trainer.test(self.dataset.test, self.dataset.classes, stopped)
        if any(self.job.total(stopped())):
            return None
        tally = self.tally
        self.history.append(
            {
                "trainLoss": tally.mean_loss,
                "trainAccuracy": tally.accuracy,
                "testLoss": loss,
                "testAccuracy": 100 * confusion.totalValid,
            }
        )
        print(
            f"epoch {epoch:3}  loss {tally.mean_loss:.4f}  train {tally.accuracy:5.1f} %  "
            f"test {100 * confusion.totalValid:5.1f} %  {rate:,.0f} images/s",
            flush=True,  # who reads it sees it now, or is known to be gone
        )
        self.epoch, self.tally = epoch, Tally()
        return confusion

    def _save(self) -> None:
        trainer, sharded = self.trainer, self.trainer.sharded
        more = {
            "tally": dataclasses.asdict(self.tally),
            "history": self.history,
            "opt": dataclasses.asdict(self.opt),
            **self.job.marks(),
        }
        if sharded is not None and self.opt.checkpoint_format == "distributed":
            epoch, state = self.epoch, trainer.optimState
            checkpoints.save_distributed(
                self.folder, epoch, sharded, state, self.tally.step, **more
            )
            return
        state = trainer.wholeState()
        if self.job.rank == 0:
            checkpoints.save(self.folder, self.epoch, trainer.model, state, self.tally.step, **more)

    def _report(self, confusion: optim.ConfusionMatrix) -> None:
        say(confusion)
        print(f"Test accuracy: {100 * confusion.totalValid:.2f} %")
        picture = self.folder / "curves.png"
        try:
            plot(self.history, picture)
            say(f"Curves:        {printable(picture)}")
        except ImportError:
            print("Curves:        not drawn, for want of matplotlib (pip install matplotlib)")
        self._print_resume_command()

    def _print_resume_command(self) -> None:
        longer = f" --epochs {2 * self.epoch}" if self.epoch >= self.opt.epochs else ""
        say(f"To go on:      dptable train --resume {printable(self.folder)}{longer}")
        print("               with --ngpus N for another number of devices")


def _checked_history(rows: Any) -> list[dict[str, float]]:
    """Return the history of a checkpoint file, checked entry by entry."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise wrong_type(rows, "history", "a list of tables")
    return [{name: number(row.get(name), f"history: {name}") for name in _HISTORY} for row in rows]


def new_folder(model: str) -> Path:
    """Make ``runs/MODEL``, or ``runs/MODEL-2`` and so on where that exists.

    ``mkdir`` fails if the folder exists, so two runs that start together get different folders.

    Args:
        model: the name of the model.
    """
    for i in itertools.count(1):
        folder = Path("runs") / (model if i == 1 else f"{model}-{i}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
    return folder
