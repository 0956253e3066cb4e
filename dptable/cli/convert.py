"""``dptable convert``: write the contents of a .t7 file in another form."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import torch
from torch import Tensor
from tqdm import tqdm

from compat import strict_json, t7
from compat.t7.base.atomic_file import atomic_file, check_writable
from compat.terminal import complain, printable, say
from dptable.cli import leaving, many, safetensors_file
from dptable.cli import rewriting as conversion
from dptable.cli.errors import WrongCommandLine
from dptable.container import to_torch as _export  # noqa: F401 (it registers itself)
from dptable.container.files import only_kept

LARGE = 64 << 20  # bytes of a file from which on progress is shown
_PIECE = 8 << 20
_NAMED = 8  # of what is left out


def run(args: argparse.Namespace) -> int:
    """Convert one file, or many, and print the results."""
    if args.to is not None or args.out is not None:
        if args.to is None or args.out is None:
            raise WrongCommandLine("--to FORM and -o FOLDER go together")
        return many.convert(
            args.files, args.to, args.out, lambda *file: _convert(args, *file), args.json
        )
    if len(args.files) != 2:
        raise WrongCommandLine(
            f"{printable(' '.join(args.files))} is given; two names, FILE.t7 OUT, or several with "
            "--to and -o, are accepted"
        )
    file, out = args.files
    if args.json:
        row = many.attempt(file, out, lambda *file: _convert(args, *file))
        print(strict_json.dumps(row, indent=1))
        if failed := row["result"] == "failed":
            complain(f"dptable: {row['reason']}")
        return int(failed)
    same = os.path.exists(file) and os.path.exists(out) and os.path.samefile(file, out)
    told = _convert(args, file, out)
    say(f"{printable(out)}: {told.text}{', in place of the file given' if same else ''}")
    return 0


def _convert(args: argparse.Namespace, file: str, out: str) -> leaving.Result:
    """Load a file, change its contents as asked, and write it."""
    args = argparse.Namespace(**{**vars(args), "file": file, "out": out})
    if Path(out).suffix in leaving.KINDS:
        leaving.check_free(out, args.force)
    write = _writer(args)
    check_writable(out)
    with only_kept():
        value = t7.load(file, mmap=True, plain=True)
    if args.strip_dpt:
        value = conversion.without_dpt(value)
    if args.to_cpu:
        value = conversion.without_cudnn(value)
    dtype = torch.float32 if args.float else torch.float16 if args.half else None
    if args.to_cpu or dtype is not None:
        value = conversion.retyped(value, dtype, args.to_cpu)
    told = write(value)
    size = os.stat(out).st_size
    if isinstance(told, str):
        return leaving.Result(f"{told}{size:,} bytes", 0.0, {}, "")
    return told


def _writer(args: argparse.Namespace) -> Callable[[Any], Any]:
    """Return the function that writes the kind of file named by ``args.out``.

    That function returns what to print about the file.
    """
    suffix = Path(args.out).suffix.lower()
    if suffix == ".t7":
        return lambda value: _write_t7(value, args)
    if suffix not in (".safetensors", ".pt", ".pth", *leaving.KINDS):
        raise WrongCommandLine(
            f"out is {args.out}; a name that ends in .py, .onnx, .pt2, .safetensors, .pt, .pth or "
            ".t7 is accepted"
        )
    if args.ascii or args.long_size:
        raise WrongCommandLine(
            f"out is {args.out}; with --ascii or --long-size, a .t7 file is accepted"
        )
    if suffix in leaving.KINDS:
        wish = leaving.Wish(args.net, args.input, args.indices_from_one, args.force)
        return lambda value: leaving.write(value, args.out, Path(args.file).name, wish)
    if suffix == ".safetensors":

        def save(tensors: dict[str, Tensor], file: Any) -> None:
            safetensors_file.write(file, tensors)

        return lambda value: _write_state_dict(value, args, save)
    return lambda value: _write_state_dict(value, args, torch.save)


def _write_t7(value: Any, args: argparse.Namespace) -> str:
    form = "ascii" if args.ascii else "binary"
    with _Output(args.out, os.stat(args.file).st_size) as file:
        t7.save(cast(BinaryIO, file), value, format=form, long_size=args.long_size or 8)
    return ""


def _write_state_dict(
    value: Any, args: argparse.Namespace, save: Callable[[dict[str, Tensor], Any], None]
) -> str:
    left_out: list[str] = []
    tensors = conversion.state_dict(value, _note, left_out.append, save is torch.save)
    if not tensors:
        net = value.get("modelFile") if isinstance(value, dict) else None
        place = f": this is the table of a checkpoint, whose net is in {net}" if net else ""
        raise ValueError(f"{args.file} holds no tensors; a file with tensors is accepted{place}")
    with _Output(args.out, sum(tensor.nbytes for tensor in tensors.values())) as file:
        save(tensors, file)
    if left_out:
        names = ", ".join(left_out[:_NAMED]) + (", …" if len(left_out) > _NAMED else "")
        complain(f"dptable: left out what is no tensor: {printable(names)}; see t7.load")
    elements = sum(tensor.numel() for tensor in tensors.values())
    return f"{len(tensors):,} tensors of {elements:,} elements, "


def _note(text: str) -> None:
    complain(f"dptable: {printable(text)}; its tensors have the names of its fields")


class _Output:
    """The file to write: renamed when complete, with a progress bar while a large one grows."""

    def __init__(self, path: str, size: int) -> None:
        self._file = atomic_file(path)
        # None shows the bar on a terminal only.
        self._bar = tqdm(
            desc=printable(Path(path).name),
            total=size,
            unit="B",
            unit_scale=True,
            leave=False,
            disable=None if size >= LARGE else True,
        )

    def __enter__(self) -> _Output:
        self._target = self._file.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.close()
        self._file.__exit__(*exception)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), _PIECE):
            piece = view[start : start + _PIECE]
            self._target.write(piece)
            self._bar.update(len(piece))
        return len(view)

    def flush(self) -> None:
        self._target.flush()
