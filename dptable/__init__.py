"""Data parallelism for Torch7-style networks: one net, several devices, one process.

Importing this package also registers the container as ``compat.nn.DataParallelTable``.
"""

from typing import TYPE_CHECKING

from dptable import startup as _startup

# isort: split
if not _startup.LOADING:  # the command loads PyTorch, and what it needs, when it has work
    with _startup.without_collector():
        from dptable import devices
        from dptable.container import to_torch as _export  # noqa: F401 (it registers itself)
        from dptable.container.files import DataParallelTable
        from dptable.replicate import replicate

__all__ = ["DataParallelTable", "devices", "replicate"]

_HINTS = {
    **{each: f"write from compat import {each}" for each in ("cutorch", "nn", "optim", "t7")},
    "load": "use t7.load(path), after from compat import t7",
    "save": "use t7.save(path, net), after from compat import t7",
    "Trainer": "use dptable.training.Trainer",
    "train": "it is a command, dptable train; its parts are in dptable.training",
    "version": "use dptable.__version__",
    "DataParallel": "use dptable.DataParallelTable(1).add(net, [1, 2])",
    "DistributedDataParallel": "use distribute() of a DataParallelTable, in each process",
    "distribute": "it is a method: DataParallelTable(1).add(net, [1]).distribute()",
}


__version__: str

if not TYPE_CHECKING:

    def __getattr__(name):
        """Read ``__version__`` from the installed metadata at the first access."""
        if name == "__version__":
            from importlib import metadata

            return metadata.version("dptable")
        from compat.hints import missing

        raise missing(__name__, "dptable", name, _HINTS, __all__)
