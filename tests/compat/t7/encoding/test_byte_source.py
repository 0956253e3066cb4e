"""Where the bytes of a file come from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from compat import t7
from compat.t7.encoding.byte_source import open_source


@pytest.mark.parametrize("mmap", [True, False])
def test_a_small_file_that_is_cut_while_it_is_read_ends_nothing(tmp_path: Path, mmap: bool) -> None:
    """What lies on a map is gone with the file, and looking at it ends the process."""
    path = tmp_path / "a.t7"
    t7.save(path, torch.arange(15_000.0))
    whole = path.read_bytes()
    with open_source(path, mmap) as source:
        os.truncate(path, 10)
        assert bytes(source.data) == whole


def test_tensors_of_small_files_outlive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "a.t7"
    t7.save(path, torch.arange(15_000.0))
    loaded = t7.load(path, mmap=True)
    os.truncate(path, 10)
    assert torch.equal(loaded, torch.arange(15_000.0))
