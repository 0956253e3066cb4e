"""Read and write ``nn.DataParallelTable`` in .t7 files: versions 1, 2 and 3; version 3 is written.

From version 2 on the payload is two objects, the list of GPUs and the table of fields, so that
Torch7 could choose the device before it read the tensors.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import index
from typing import Any

from compat import cutorch, nn, t7
from compat.nn.core.files import wrap_unknown
from compat.nn.core.flat_storage import flatten
from compat.nn.core.walk_limits import walked
from compat.tensor_types import default_type, parse_type, type_name
from dptable.container.data_parallel_table import DataParallelTable
from dptable.container.shares import checked
from dptable.threads.dispatch import Basic, Threads

_SLICES = ("inputGpu", "outputGpu", "gradOutputGpu", "gradInputGpu")
# Fields of files that are made anew here, or belong to passes of the past.
_RUN_FIELDS = (*_SLICES, "flattenedParams", "maxUsedGpu", "needsSync", "buffer", "gpuAssignments")
_only_kept = ContextVar("_only_kept", default=False)


@contextmanager
def only_kept() -> Iterator[None]:
    """Let containers keep the devices of the file, present or not, because they will not run."""
    token = _only_kept.set(True)
    try:
        yield
    finally:
        _only_kept.reset(token)


def _read(dpt: DataParallelTable, version: float) -> Generator[Any, Any, None]:
    if version < 2:
        fields = yield t7.FIELDS
        gpus = fields.get("gpuAssignments") or []
    else:
        gpus = yield t7.OBJECT
        fields = yield t7.FIELDS
    gpus = _assignments(gpus) if fields.get("modules") else []
    flattened = bool(fields.get("flattenedParams"))
    for name in _RUN_FIELDS:
        fields.pop(name, None)
    impl, shares = fields.pop("impl", None), fields.pop("shares", None)
    # Before version 2 every replica was saved; the first one is the net.
    fields["modules"] = list(fields.get("modules") or [])[:1]
    wrap_unknown("module", fields["modules"])
    typeStr = fields.pop("typeStr", fields.get("_type", default_type()))
    named = type_name(*parse_type(typeStr, "typeStr"))
    # Torch7 leaves the container's own type at what was the default.
    fields["_type"] = fields["modules"][0].type() if fields["modules"] else named
    dpt.flattenParams = dpt.usenccl = False
    dpt.gpuAssignments = []
    is_own = isinstance(impl, _Impl) and impl.dpt is dpt
    dpt.reset_parts(impl.dispatcher() if is_own else None)
    dpt.t7_restore(fields, int(version))
    dpt.gpuAssignments = gpus
    if shares is not None and len(shares if isinstance(shares, list) else gpus) == len(gpus):
        # Shares of so many devices say nothing of another number.
        dpt.shares = checked(shares, len(gpus))
    if flattened and dpt.modules:
        t7.when_read(_flatten, dpt)


def _flatten(containers: Iterable[DataParallelTable]) -> None:
    """Flatten containers once everything in them has been read."""
    for dpt in containers:
        t7.claim(entries=walked(dpt.modules[0]))
        pairs = zip(*dpt.modules[0].parameters(), strict=True)
        trained = [(parameter, gradient) for parameter, gradient in pairs if gradient is not None]
        parameters, gradients = zip(*trained, strict=True) if trained else ((), ())
        dpt.flattenedParams = [list(flatten(list(parameters), list(gradients)))]


def _assignments(saved: Any) -> list[int]:
    """Return the devices to restore on: the file's, or the number in ``deserializeNGPUs``."""
    available = cutorch.getDeviceCount()
    wanted = None if _only_kept.get() else DataParallelTable.deserializeNGPUs
    if wanted is not None:
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 1:
            raise t7.Refusal(
                f"deserializeNGPUs is {wanted!r}; None or a whole number from 1 on is accepted"
            )
        if wanted > available:
            raise t7.Refusal(
                f"Deserialization requested on too many GPUs: {wanted} vs {available} available"
            )
        return list(range(1, wanted + 1))
    gpus = [index(gpu) for gpu in saved] if saved else [1]
    if max(gpus) > available and not _only_kept.get():
        raise t7.Refusal(
            f"Model was serialized on {max(gpus)} nGPUs, but you are running on {available}; "
            "please set DataParallelTable.deserializeNGPUs to ignore serialized tower-GPU "
            "assignments"
        )
    return gpus


def _write(dpt: DataParallelTable) -> Generator[Any, Any, None]:
    dpt.settleStatistics()
    fields = {
        name: value
        for name, value in dpt.t7_fields().items()
        if name == "_type" or not (name.startswith("_") or name in _RUN_FIELDS)
    }
    kind = _ThreadsImpl if isinstance(dpt.impl.dispatcher, Threads) else _Impl
    fields.update(impl=kind.of(dpt), typeStr=dpt.typeStr)
    ids = [_gpu_id(gpu) for gpu in dpt.gpuAssignments]
    fields.update(gpuAssignments=ids, needsSync=dpt.needsSync, **{name: {} for name in _SLICES})
    if dpt.shares is not None:
        fields["shares"] = dpt.shares.asked
    if dpt.flattenedParams is not None:
        fields["flattenedParams"] = [dpt.flattenedParams[0]]
    yield t7.OBJECT, ids
    yield t7.FIELDS, fields


def _gpu_id(gpu: Any) -> int:
    """Return Torch7's number of a device."""
    if isinstance(gpu, int):
        return gpu
    device = cutorch.device(gpu)
    listed = cutorch.devices()
    return listed.index(device) + 1 if device in listed else (device.index or 0) + 1


class _Impl:
    """``impl`` as files hold it: Torch7's object refers to its container."""

    def __init__(self, dpt: Any) -> None:
        self.dpt = dpt

    @classmethod
    def of(cls, dpt: DataParallelTable) -> _Impl:
        """Make the object for ``dpt``."""
        return cls(dpt)

    def dispatcher(self) -> Basic:
        """Return the dispatcher of the container."""
        return Basic()

    def t7_fields(self) -> dict[str, Any]:
        return {"dpt": self.dpt}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        self.dpt = fields.get("dpt")


class _ThreadsImpl(_Impl):
    """``impl`` of a container with threads."""

    initFunc: Any = None
    syncCopies: Any = None

    @classmethod
    def of(cls, dpt: DataParallelTable) -> _ThreadsImpl:
        impl, dispatcher = cls(dpt), dpt.impl.dispatcher
        assert isinstance(dispatcher, Threads)
        impl.initFunc, impl.syncCopies = dispatcher.initFunc, dispatcher.syncCopies
        return impl

    def dispatcher(self) -> Threads:
        return Threads(self.initFunc, self.syncCopies)

    def t7_fields(self) -> dict[str, Any]:
        # A Python function means nothing to Lua.
        known = self.initFunc if isinstance(self.initFunc, t7.LuaFunction) else None
        fields = {"dpt": self.dpt, "initFunc": known, "syncCopies": self.syncCopies}
        return {name: value for name, value in fields.items() if value is not None}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.initFunc, self.syncCopies = fields.get("initFunc"), fields.get("syncCopies")


t7.register(Basic.typename, _Impl)
t7.register(Threads.typename, _ThreadsImpl)
t7.register(
    DataParallelTable.typename,
    DataParallelTable,
    version=DataParallelTable.t7_version,
    read=_read,
    write=_write,
)
nn.DataParallelTable = DataParallelTable  # type: ignore[attr-defined]
