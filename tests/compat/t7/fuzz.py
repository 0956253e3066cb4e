"""Feeds damaged files to the reader: only a T7Error or a sound value may come of them.

The short form runs in the tests; the long form is

    python tests/compat/t7/fuzz.py --mutations 200000
    python tests/compat/t7/fuzz.py --mutations 200000 --objects

The second builds the objects of this library's classes, and uses what could be built a little.

Mutations derive from a fixed seed and their number alone, so that a failure can be repeated with
``--first N --mutations 1``.  The address space of the process is limited: whatever the damage says,
no reading may need much more memory than the file has bytes.
"""

from __future__ import annotations

import argparse
import io
import operator
import random
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch

sys.path.append(str(Path(__file__).parents[2]))
from support.mutations import ending, limit_memory, mutate
from support.paths import GOLDEN
from support.t7_recordings import FILES, MALFORMED, read, register_custom_classes, variant

import dptable  # noqa: F401  # registers its classes
from compat import nn, optim, t7
from compat.tensor_tables import contents

MEMORY = 1 << 30
"""Bytes of address space beyond what the process has when it starts."""

ENDLESS = 20
"""Seconds after which a reading counts as endless."""

LARGEST_FILE = 30_000


class Plain:
    """Reading without the classes of this library."""

    def files(self) -> list[tuple[dict[str, Any], bytes]]:
        return originals(FILES)

    def options(self) -> dict[str, Any]:
        return {"raw": True}

    def mutate(
        self, data: bytes, options: dict[str, Any], others: list[bytes], chance: random.Random
    ) -> tuple[bytes, dict[str, Any]]:
        """Damaged data, and how to open it."""
        return mutate(data, others, chance), {} if chance.random() < 0.3 else options

    def use(self, value: Any) -> None:
        """What can be read must be writable again."""
        try:
            written = t7.dumps(value)
        except t7.T7Error:
            return  # e.g. the keys "a" twice, once in each of two encodings
        t7.loads(written, raw=True)


class Objects(Plain):
    """Reading with these classes, and using the objects."""

    def files(self) -> list[tuple[dict[str, Any], bytes]]:
        return super().files() + modules()

    def options(self) -> dict[str, Any]:
        return {}

    def mutate(
        self, data: bytes, options: dict[str, Any], others: list[bytes], chance: random.Random
    ) -> tuple[bytes, dict[str, Any]]:
        """Bytes change as they do without classes, or entries of a file that stays well-formed."""
        if chance.random() < 0.3:
            return super().mutate(data, options, others, chance)
        try:
            return t7.dumps(changed(t7.loads(data, raw=True, **options), chance)), {}
        except t7.T7Error:
            return data, options

    def use(self, value: Any) -> None:
        """What Python says of fields that are missing or of another kind is an answer, too."""
        uses = [repr, t7.dumps, *map(operator.methodcaller, ("type", "double", "clearState"))]
        for thing in contents(value):
            for use in uses:
                try:
                    use(thing)
                except RecursionError:
                    raise AssertionError(f"{use} without end") from None
                except Exception:
                    pass


def changed(value: Any, chance: random.Random) -> Any:
    """``value`` with one to four entries of the tables in it taken out or replaced."""
    tables: list[Any] = []
    stack, seen = [value], set()
    while stack:
        table = stack.pop()
        table = table.fields if isinstance(table, t7.TorchObject) else table
        if isinstance(table, (list, dict)) and id(table) not in seen:
            seen.add(id(table))
            tables += [table] if table else []
            stack += table.values() if isinstance(table, dict) else table
    for _ in range(chance.choice((1, 1, 1, 2, 4)) if tables else 0):
        table = chance.choice(tables)
        keys = list(table if isinstance(table, dict) else range(-len(table), 0))
        if not keys:
            continue
        key, kind = chance.choice(keys), chance.random()
        if kind < 0.2:
            del table[key]
        elif kind < 0.4:
            table[key] = chance.choice([value, *tables, *table, table[key]])
        else:
            table[key] = chance.choice(_VALUES)
    return value


def modules() -> list[tuple[dict[str, Any], bytes]]:
    """A file of each class: the smallest object that was recorded, or one made here."""
    found: dict[str, bytes] = {}
    folders = ("nn", "criterion", "composite", "dpt")
    paths = sorted(path for folder in folders for path in GOLDEN.glob(f"{folder}/*.t7"))
    recorded = [t7.load(path, raw=True) for path in paths]
    stack: list[Any] = [*recorded, *made()]
    while stack:
        value = stack.pop()
        if isinstance(value, (list, dict)):
            stack += value.values() if isinstance(value, dict) else value
            continue
        typename = getattr(value, "typename", None)
        if isinstance(typename, str) and not isinstance(value, t7.Storage):
            data = t7.dumps(value)
            if len(data) < len(found.get(typename, data + b" ")):
                found[typename] = data
    entry = {"mode": "binary", "endian": "little", "longSize": 8, "referenced": True}
    pairs = [({**entry, "file": name}, data) for name, data in sorted(found.items())]
    return [(entry, data) for entry, data in pairs if len(data) <= LARGEST_FILE]


def made() -> list[Any]:
    """Objects of classes that no recording has."""
    layer = nn.Linear(2, 2)
    return [
        *(nn.LSTM(2, 2), nn.FastLSTM(2, 2), nn.GRU(2, 2), nn.SeqLSTM(2, 2), nn.SeqGRU(2, 2)),
        *(nn.Sequencer(layer), nn.BiSequencer(nn.LSTM(2, 2)), nn.Repeater(layer, 3)),
        *(nn.MaskZero(layer, 1), nn.LookupTableMaskZero(3, 2), nn.Recursor(layer)),
        nn.Recurrent(2, layer, nn.Linear(2, 2)),
        nn.SequencerCriterion(nn.MSECriterion()),
        optim.ConfusionMatrix(["a", "b"]),
        t7.TorchObject("optim.Logger", 1, {"name": "x.log", "names": ["loss"], "symbols": [[1]]}),
        graph(),
    ]


def graph() -> Any:
    start = nn.Identity()()
    both = [nn.Linear(2, 2)(start), nn.Tanh()(start)]
    return nn.gModule([start], [nn.CAddTable()(both)])


_VALUES = (
    *(0, -1, 1, 2, 3, 0.5, 1e300, float("inf"), float("nan"), 2**31, 2**40, 2**53, True, False),
    *(
        "",
        "torch.FloatTensor",
        "torch.CudaTensor",
        "x",
        b"\xff",
        {},
        [1],
        [3, 2],
        [2.0] * 5,
        {"a": 1},
    ),
    *(torch.empty(0), torch.ones(1), torch.ones(2, 2), torch.ones(3, dtype=torch.long)),
    *(torch.ones(1, dtype=dtype).expand(2**28, 4) for dtype in (torch.float32, torch.int64)),
    torch.ones(1).expand(2**40),
    t7.Storage([1, 2]),
    t7.Storage([2**62, 4]),
    t7.LuaFunction(b"x"),
    *(t7.TorchObject(name, 1, {}) for name in ("nn.Linear", "nn.Sequential", "no.Such")),
)


def originals(entries: list[dict[str, Any]]) -> list[tuple[dict[str, Any], bytes]]:
    """The recordings that are small enough, and how they must be opened."""
    files = [(entry, read(entry)) for entry in entries]
    return [(entry, data) for entry, data in files if len(data) <= LARGEST_FILE]


def try_reading(data: bytes, way: Plain, options: dict[str, Any]) -> bool:
    """Whether ``data`` can be read."""
    try:
        value = t7.loads(data, **way.options(), **options)
    except (t7.T7Error, t7.Refusal) as error:
        assert str(error)
        assert "allocate" not in str(error.__cause__), "memory that the file does not have"
        return False
    way.use(value)
    return True


def run(way: Plain, first: int, mutations: int, seed: int) -> dict[str, int]:
    """Try the mutations from number ``first`` on; how many could be read, and how many not."""
    register_custom_classes()
    warnings.simplefilter("ignore")
    sound, broken = way.files(), originals(MALFORMED)
    files = sound + broken
    others = [data for _, data in files]
    counts = {"read": 0, "refused": 0}
    for number in range(first, first + mutations):
        chance = random.Random(seed * 1_000_003 + number)
        entry, data = chance.choice(sound if chance.random() < 0.9 else broken)
        try:
            with ending(ENDLESS):
                damaged, options = way.mutate(data, variant(entry), others, chance)
                was_read = try_reading(damaged, way, options)
                if chance.random() < 0.1:
                    _list_entries(damaged, options)
        except BaseException as problem:
            problem.args = (f"mutation {number} of {entry['file']}: {problem!r}",)
            raise
        counts["read" if was_read else "refused"] += 1
    return counts


def _list_entries(data: bytes, options: dict[str, Any]) -> None:
    try:
        for _ in t7.inspect(io.BytesIO(data), **options):
            pass
    except t7.T7Error:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description="Feed damaged .t7 files to the reader.")
    parser.add_argument("--mutations", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--objects", action="store_true", help="build the objects of all classes")
    arguments = parser.parse_args()
    limit_memory(MEMORY)
    started = time.perf_counter()
    way = Objects() if arguments.objects else Plain()
    counts = run(way, arguments.first, arguments.mutations, arguments.seed)
    seconds = time.perf_counter() - started
    print(f"{counts['read']} read, {counts['refused']} refused, none failed, in {seconds:.0f} s")


if __name__ == "__main__":
    main()
