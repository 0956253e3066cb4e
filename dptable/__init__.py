"""Data parallelism for Torch7-style networks in one process.

Importing it makes the container available as ``compat.nn.DataParallelTable`` too.
"""

from dptable import startup as _startup

# isort: split
if not _startup.LOADING:  # the command loads PyTorch, and what it needs, when it has work
    with _startup.without_collector():
        from dptable import devices
        from dptable.container import to_torch as _export  # noqa: F401 (it registers itself)
        from dptable.container.files import DataParallelTable
        from dptable.replicate import replicate

__all__ = ["DataParallelTable", "devices", "replicate"]


def __getattr__(name: str) -> str:
    """``__version__``, read from the installed metadata when somebody asks."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import metadata

    return metadata.version("dptable")
