"""Data parallelism for Torch7-style networks in one process.

Importing it makes the container available as ``compat.nn.DataParallelTable`` too.
"""

from compat import nn
from dptable import export as _export  # noqa: F401 (it registers itself)
from dptable.serialization import DataParallelTable

nn.DataParallelTable = DataParallelTable  # type: ignore[attr-defined]

__all__ = ["DataParallelTable"]
