"""What a container is composed of knows it, and does not keep it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dptable.container.data_parallel_table import DataParallelTable


class Owned:
    """A part of a container.

    The container owns the part: a strong reference back would keep both, and the worker threads,
    alive until the garbage collector comes by.
    """

    def __init__(self, dpt: DataParallelTable) -> None:
        self._dpt = weakref.ref(dpt)

    @property
    def dpt(self) -> DataParallelTable:
        dpt = self._dpt()
        assert dpt is not None
        return dpt
