"""Data parallelism for Torch7-style networks in one process.

Importing it makes the container available as ``compat.nn.DataParallelTable`` too.
"""

from dptable import startup as _startup  # noqa: F401 (Ctrl-C, while the command loads)

# isort: split
from compat import nn
from dptable import devices
from dptable.container import to_torch as _export  # noqa: F401 (it registers itself)
from dptable.container.files import DataParallelTable
from dptable.replicate import replicate

nn.DataParallelTable = DataParallelTable  # type: ignore[attr-defined]

__all__ = ["DataParallelTable", "devices", "replicate"]
