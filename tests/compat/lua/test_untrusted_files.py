"""Damaged files of tensors: the Lua reader refuses what the Python reader refuses."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from compat import t7
from compat.lua import LuaError, Runtime


def _text(text: str) -> bytes:
    return struct.pack("<i", len(text)) + text.encode()


def _tensor(
    sizes: list[int],
    strides: list[int],
    offset: int = 1,
    elements: int = 6,
    declared: int | None = None,
    storage: str = "torch.DoubleStorage",
    dimensions: int | None = None,
) -> bytes:
    """A file with a DoubleTensor of this geometry over the numbers 0, 1, 2…"""
    count = len(sizes) if dimensions is None else dimensions
    longs = struct.pack(f"<{2 * len(sizes)}q", *sizes, *strides)
    head = struct.pack("<ii", 4, 1) + _text("V 1") + _text("torch.DoubleTensor")
    geometry = struct.pack("<i", count) + longs + struct.pack("<q", offset)
    body = struct.pack("<ii", 4, 2) + _text("V 1") + _text(storage)
    length = struct.pack("<q", elements if declared is None else declared)
    return head + geometry + body + length + struct.pack(f"<{elements}d", *range(elements))


def _load(runtime: Runtime, path: Path, data: bytes) -> str:
    """What Lua says of a file, without its place in the source."""
    path.write_bytes(data)
    with pytest.raises(LuaError) as caught:
        runtime.execute("torch.load(...)", str(path))
    return str(caught.value)


REFUSED = {
    "a negative stride": _tensor([2, 3], [-3, 1], offset=4),
    "a negative size": _tensor([-2, -3], [3, 1]),
    "an offset of 0": _tensor([2, 3], [3, 1], offset=0),
    "an offset too large": _tensor([2, 3], [3, 1], offset=2),
    "strides too large": _tensor([2, 3], [4, 1]),
    "sizes whose product wraps around": _tensor([2**62, 4], [0, 0]),
    "strides whose sum wraps around": _tensor([2**32 + 1, 3], [2**32, 1]),
    "too many dimensions": _tensor([1] * 65, [1] * 65),
    "less than no dimensions": _tensor([], [], dimensions=-1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_both_readers_say_the_same_of_a_wrong_geometry(
    case: str, runtime: Runtime, tmp_path: Path
) -> None:
    path = tmp_path / "x.t7"
    said = _load(runtime, path, REFUSED[case])
    with pytest.raises(t7.T7Error) as caught:
        t7.load(path, long_size=8)
    error = caught.value
    assert said.endswith(f"{path}, at byte {error.offset}: {error.defect()}")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (_tensor([2, 3], [3, 1], storage="torch.IntStorage"), "expected a torch.DoubleStorage"),
        (_tensor([2, 3], [3, 1], declared=2**40), "at most the 6 that the file holds"),
        (_tensor([2, 3], [3, 1], declared=-1), "found a count of -1, expected one from 0"),
        (struct.pack("<ii", 2, 2**31 - 1), "read error: read 0 blocks instead of 2147483647"),
        (struct.pack("<ii", 2, -5), "found a count of -5, expected one from 0"),
    ],
)  # fmt: skip
def test_counts_and_types_are_not_believed(
    data: bytes, words: str, runtime: Runtime, tmp_path: Path
) -> None:
    assert words in _load(runtime, tmp_path / "x.t7", data)


@pytest.mark.parametrize(
    ("sizes", "strides", "shown"),
    [
        ([2, 3], [3, 1], "0 1 2 3 4 5"),
        ([3, 2], [1, 3], "0 3 1 4 2 5"),
        ([2, 2], [0, 1], "0 1 0 1"),
        ([1, 3], [-7, 1], "0 1 2"),  # a size of 1 steps nowhere
        ([0, 3], [3, 1], ""),
    ],
)
def test_whatever_lies_inside_is_read(
    sizes: list[int], strides: list[int], shown: str, runtime: Runtime, tmp_path: Path
) -> None:
    path = tmp_path / "x.t7"
    path.write_bytes(_tensor(sizes, strides))
    code = "local x = torch.load(...) return table.concat(x:clone():storage():totable(), ' ')"
    if 0 in sizes:
        code = "local x = torch.load(...) return x:dim() == 0 and ''"
    assert runtime.execute(code, str(path)) == shown


def test_damaged_files_of_tensors_end_in_errors(runtime: Runtime, tmp_path: Path) -> None:
    """Whatever loads can be written to, and stays within its memory."""
    draw = random.Random(3)
    sound = _tensor([2, 3], [3, 1])
    write = runtime.eval(
        """function(path)
           local ok, x = pcall(torch.load, path)
           if ok and torch.isTensor(x) then
              if x:nElement() > 1e3 then return 'many' end
              x:fill(7)
              for i = 1, x:dim() do x:select(i, x:size(i)) end
              assert(x:sum() == 7 * x:nElement())
              return 'loaded'
           end
           return ok and 'other' or 'refused'
        end"""
    )
    path = tmp_path / "x.t7"
    seen = set()
    for _ in range(600):
        data = bytearray(sound)
        for _ in range(draw.choice([1, 1, 2, 3])):
            data[draw.randrange(len(data))] = draw.choice([0, 1, 2, 3, 127, 128, 255])
        path.write_bytes(data)
        seen.add(write(str(path)))
    assert {"loaded", "refused"} <= seen


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("torch.Tensor(5):set(torch.DoubleStorage(3), 0, 3, 1)", "Tensor: invalid storage offset"),
        ("torch.Tensor(torch.DoubleStorage(3), 2^50, 2^50)", "Torch: invalid memory size"),
        ("torch.Tensor(3):resize(2^40, 2^40)", "Torch: invalid memory size"),
        ("torch.DoubleStorage(-3)", "Torch: invalid memory size"),
        ("torch.DoubleStorage(3):resize(-1)", "Torch: invalid memory size"),
        ("torch.range(1, 3):unfold(1, -1, 1)", "out of range"),
    ],
)
def test_scripts_make_no_geometry_outside_memory(code: str, words: str, runtime: Runtime) -> None:
    with pytest.raises(LuaError, match=words):
        runtime.execute(code)


def test_a_storage_grows_with_what_is_laid_over_it(runtime: Runtime) -> None:
    """As in Torch7, in which strides below 0 follow from the sizes."""
    sizes = runtime.execute(
        """
        local s = torch.DoubleStorage(3)
        local x = torch.Tensor():set(s, 3, torch.LongStorage{2, 2}, torch.LongStorage{-1, -1})
        local a, b = x:stride(1), x:stride(2)
        local y = torch.Tensor(s, 5, 2, -4, 3, -1)
        return a, b, #s, y:stride(1), y:stride(2), y:storageOffset()
        """
    )
    assert sizes == (2, 1, 10, 3, 1, 5)


def test_a_tensor_stays_what_it_was_where_its_memory_cannot_be_had(runtime: Runtime) -> None:
    runtime.execute(
        """
        local x = torch.range(1, 3)
        assert(not pcall(x.set, x, torch.DoubleStorage(2), 2^60, 5))
        x:fill(7)
        assert(x:sum() == 21 and x:storageOffset() == 1)
        """
    )
