"""Turns objects into a plan of what to write, and the plan into bytes.

The plan is complete before the first byte leaves, so that nothing is touched if something cannot be
written. It holds the structure of the file; the elements of tensors are taken from where they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import torch

from compat import accelerators
from compat.lua_tables import MixedTable, items, values
from compat.t7.base.errors import T7Error
from compat.t7.base.object_path import describe
from compat.t7.base.types import TENSOR_DTYPES, Key, LuaFunction, Storage, TorchObject, is_cuda_type
from compat.t7.encoding.primitives import LARGEST, Encoder, text
from compat.t7.objects import registry
from compat.t7.objects.hooks import FIELDS, OBJECT, Bytes, Request
from compat.t7.objects.shared_storages import Shared, Use
from compat.torch_internals import storage_identity

_ALIGNED = 1 << 20  # bytes from which a storage starts at a multiple of 64
_Steps = Generator[Any, None, None]


class Frame:
    """A table, object or function whose content is being written."""

    __slots__ = ("label", "steps", "tensor_type", "typename")

    def __init__(self, tensor_type: str) -> None:
        self.steps: _Steps
        self.label: Any = None  # of the child being written, as in the path of an error
        self.typename = ""  # of an object
        self.tensor_type = tensor_type  # the CUDA class of tensors on the CPU, from a module


class Writer:
    """Plans the writing of objects; the memo lives as long as the writer.

    Args:
        encoder: makes bytes of primitive values.
        referenced: whether an object that was written before becomes a reference.
        compact: write of each storage only what tensors use.
        cleared: what remains of the fields of an object of this class.

    Attributes:
        size: about how many bytes the finished plan makes.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        referenced: bool = True,
        compact: bool = False,
        cleared: Callable[[str, dict[Any, Any]], dict[Any, Any]] | None = None,
    ) -> None:
        self._encoder = encoder
        self._referenced = referenced
        self._compact = compact
        self._cleared = cleared
        self.size = 0
        self._count = 0
        self._memo: dict[int, int] = {}
        # An object that is freed would give its address to another one, which would become a
        # reference.
        self._kept: list[Any] = []  # whatever the memo knows by its address
        self._open: set[int] = set()
        # Objects that state another one to be written, by their addresses, and that.
        self._stand_ins: dict[int, tuple[Any, Any]] = {}
        self._shared: dict[Any, Shared] = {}
        self._text = bytearray()
        self._pieces: list[bytearray | Use] = [self._text]
        self._scalars: dict[type, Callable[[Any], bytes]] = {
            type(None): encoder.nil,
            bool: encoder.boolean,
            int: self._whole,
            float: encoder.double,
            str: self._string,
            bytes: encoder.text,
        }

    def add(self, value: Any) -> None:
        """Add one object to the plan."""
        stack: list[Frame] = []
        try:
            self._object(stack, value, "")
            while stack:
                frame = stack[-1]
                try:
                    request, value = next(frame.steps)
                except StopIteration:
                    stack.pop()
                    continue
                self._answer(stack, request, value, frame)
        except T7Error as error:
            labels = [frame.label for frame in stack if frame.label is not None]
            error.path = error.path or describe(labels)
            raise

    def finish(self) -> None:
        """Complete the plan; no object can be added any more."""
        self.size = sum(len(piece) for piece in self._pieces if isinstance(piece, bytearray))
        # Only now are all tensors of each storage known, so only now can the storages be divided
        # and the checks made that must fail before the file is touched.
        for shared in self._shared.values():
            for part in shared.divide(self._compact, self._referenced):
                self._encoder.check(part.elements)
                self.size += len(part.elements) * part.elements.itemsize

    def chunks(self) -> Iterator[Any]:
        """Yield the bytes of everything planned."""
        position = 0
        for piece in self._pieces:
            for chunk in [piece] if isinstance(piece, bytearray) else self._use(piece, position):
                position += len(chunk)
                yield chunk

    # What the plan is made of.

    def _emit(self, raw: bytes) -> None:
        self._text += raw

    def _answer(self, stack: list[Frame], request: Request, value: Any, frame: Frame) -> None:
        if request is OBJECT:
            self._object(stack, value, frame.tensor_type)
        elif request is FIELDS:
            self._begin(3)
            fields = value if self._cleared is None else self._cleared(frame.typename, value)
            self._push(stack, self._table, fields, frame.tensor_type)
        elif isinstance(request, Bytes):
            if len(value) != request.count:
                raise T7Error(f"{len(value)} bytes", f"{request.count} bytes, as announced")
            self._emit(self._encoder.raw(bytes(value)))
        elif isinstance(request, Request):
            self._emit(self._encoder.number(request.code, value))
        else:
            raise TypeError(f"a write hook yielded {request!r}; t7.OBJECT or the like is accepted")

    def _push(
        self, stack: list[Frame], make: Callable[..., _Steps], value: Any, tensor_type: str
    ) -> None:
        frame = Frame(tensor_type)
        frame.steps = make(frame, value)
        stack.append(frame)

    def _next_index(self) -> int:
        self._count += 1
        return self._count

    def _begin(self, code: int) -> int:
        index = self._next_index()
        self._emit(self._encoder.indexed(code, index))
        return index

    def _object(self, stack: list[Frame], value: Any, tensor_type: str) -> None:
        scalar = self._scalars.get(type(value))
        if scalar is not None:
            self._emit(scalar(value))
            return
        if isinstance(value, Key):
            self._object(stack, value.value, tensor_type)
            return
        code = _code(value)
        if code is None and hasattr(type(value), "t7_object"):
            if id(value) not in self._stand_ins:
                self._stand_ins[id(value)] = value, value.t7_object()
            self._object(stack, self._stand_ins[id(value)][1], tensor_type)
            return
        if code is None:
            self._emit(self._other_scalar(value))
            return
        known = self._memo.get(id(value))
        if known is not None:
            self._emit(self._encoder.indexed(code, known))
            return
        if isinstance(value, (torch.Tensor, np.ndarray, Storage)):
            self._add_use(value, tensor_type)
            return
        make = {3: self._table, 4: self._torch_object}.get(code, self._function)
        if code == 6:
            self._emit(self._encoder.integer(6))
            self._kept.append(value)
        else:
            # Before its content: an object may contain itself.
            self._remember(value, self._begin(code))
        # Functions of the oldest form have no index, so that a cycle through one has no end either.
        if code == 6 or not self._referenced:
            make = self._guarded(make)
        self._push(stack, make, value, tensor_type)

    def _remember(self, value: Any, index: int) -> None:
        self._kept.append(value)
        if self._referenced:
            self._memo[id(value)] = index

    def _guarded(self, make: Callable[..., _Steps]) -> Callable[..., _Steps]:
        """Wrap ``make`` to raise T7Error on a cycle, which without references has no end."""

        def steps(frame: Frame, value: Any) -> _Steps:
            if id(value) in self._open:
                raise T7Error("an object that contains itself", "one that can be written in full")
            self._open.add(id(value))
            yield from make(frame, value)
            self._open.discard(id(value))

        return steps

    def _table(self, frame: Frame, table: Any) -> _Steps:
        self._emit(self._encoder.integer(sum(value is not None for value in values(table))))
        if isinstance(table, (dict, MixedTable)):
            # Lua has one string type: 'a' and b'a' would be one key, and the file would lose an
            # entry.
            _check_keys(table if isinstance(table, dict) else table.further())
        scalars = self._scalars
        for key, value in items(table):
            if value is None:
                continue
            frame.label = key
            if key is None or (isinstance(key, float) and key != key):
                raise T7Error(f"{key} as a table key", "any other object")
            scalar = scalars.get(type(key))
            if scalar is not None:
                self._text += scalar(key)
            else:
                yield OBJECT, key
            scalar = scalars.get(type(value))
            if scalar is not None:
                self._text += scalar(value)
            else:
                yield OBJECT, value

    def _function(self, frame: Frame, function: LuaFunction) -> _Steps:
        self._emit(self._encoder.string(function.bytecode))
        frame.label = "upvalues"
        yield OBJECT, function.upvalues

    def _torch_object(self, frame: Frame, value: Any) -> _Steps:
        if isinstance(value, TorchObject):
            entry = registry.find_kept(value.typename)
            frame.typename = value.typename
            self._emit(self._class(value.typename, value.version))
            if entry is None or entry.write is None:
                for part in value.preamble:
                    yield OBJECT, part
                yield FIELDS, value.fields or {}
            else:
                yield from entry.write(value)
            return
        entry = registry.find_class(type(value))
        assert entry is not None
        frame.typename = entry.typename
        self._emit(self._class(entry.typename, entry.version))
        # A module of a CUDA type on a machine without GPUs holds CPU tensors: its type names their
        # class.
        own_type = getattr(value, "_type", None)
        if isinstance(own_type, str):
            frame.tensor_type = own_type
        if entry.write is not None:
            yield from entry.write(value)
        else:
            yield FIELDS, value.t7_fields() if hasattr(value, "t7_fields") else vars(value)

    def _class(self, typename: str, version: float, blanks: int = 0) -> bytes:
        if not typename.isprintable() or not typename:
            raise T7Error(f"the class name {typename[:60]!r}", "a name of printable text")
        string = self._encoder.string
        return string(f"V {version}".encode() + b" " * blanks) + string(typename.encode())

    # Scalars.

    def _whole(self, value: int) -> bytes:
        if -LARGEST <= value <= LARGEST:
            return self._encoder.double(value)
        try:
            exact = int(float(value)) == value
        except OverflowError:
            exact = False
        if not exact:
            raise T7Error(f"the int {value}", "an int that a double can hold")
        return self._encoder.double(float(value))

    def _string(self, value: str) -> bytes:
        try:
            return self._encoder.text(value.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            raise T7Error(f"the str {value[:40]!r}", "a str that UTF-8 can encode") from None

    def _other_scalar(self, value: Any) -> bytes:
        plain: Any = None
        if isinstance(value, np.generic):
            plain = value.item()
        elif isinstance(value, os.PathLike):
            plain = os.fspath(value)
        elif isinstance(value, (bytearray, memoryview)):
            plain = bytes(value)
        else:
            bases = (base for base in (int, float, str, bytes) if isinstance(value, base))
            plain = next((base(value) for base in bases), None)
        scalar = self._scalars.get(type(plain))
        if plain is None or scalar is None:
            kind = type(value)
            raise T7Error(
                f"a {kind.__module__}.{kind.__qualname__}",
                "a number, str, bool, None, list, dict, tensor or object of a registered class",
                hint=f"register the class: @t7.register({kind.__name__!r})",
            )
        return scalar(plain)

    # Tensors and storages.

    def _add_use(self, value: Any, tensor_type: str) -> None:
        is_storage = isinstance(value, Storage)
        tensor = _plain_tensor(value.tensor if is_storage else value)
        shared = self._shared_storage(tensor)
        named = value.typename if is_storage else getattr(value, "torch7_type", "")
        if (
            accelerators.holds(tensor)
            or is_cuda_type(named)
            or _moved_by(tensor_type, tensor, named)
        ):
            shared.on_gpu = True
        index = storage_index = 0
        if not is_storage:
            index = self._next_index()
            self._remember(value, index)
        # The first tensor of a storage writes it; later ones refer to it, as Torch7 does.
        is_known = self._referenced and bool(shared.uses)
        if not is_known and (is_storage or tensor.untyped_storage().nbytes()):
            storage_index = self._next_index()
        use = Use(tensor, index, storage_index, is_storage)
        shared.uses.append(use)
        self._text = bytearray()
        self._pieces += [use, self._text]

    def _shared_storage(self, tensor: torch.Tensor) -> Shared:
        storage = tensor.untyped_storage()
        # By address, not by identity: two storage objects of PyTorch can be one memory, from DLPack
        # or NumPy.
        key: tuple[Any, ...] = (tensor.device, storage.data_ptr(), storage.nbytes(), tensor.dtype)
        if not storage.nbytes():
            key = (
                storage_identity(tensor),
                tensor.dtype,
            )  # storages without memory have no address
        if key not in self._shared:
            self._shared[key] = Shared(tensor)
        return self._shared[key]

    def _use(self, use: Use, position: int) -> Iterator[Any]:
        """Yield the bytes of a tensor or storage."""
        encoder = self._encoder
        typename = use.part.shared.typename
        head = bytearray()
        if not use.is_storage:
            head += encoder.indexed(4, use.index) + self._class(typename, 1)
            # Torch7 writes an empty tensor with no dimensions.
            sizes, strides = (use.sizes, use.strides) if use.sizes != (0,) else ((), ())
            head += encoder.integer(len(sizes)) + encoder.longs(sizes) + encoder.longs(strides)
            head += encoder.number("l", use.offset - use.part.start + 1)
        elements = use.part.elements
        if not len(elements) and len(use.part.uses) == 1 and not use.is_storage:
            yield head + encoder.nil()
            return
        if use.part.index is not None and self._referenced:
            yield head + encoder.indexed(4, use.part.index)
            return
        use.part.index = use.storage_index or self._next_index()
        head += encoder.indexed(4, use.part.index)
        storage_type = typename.replace("Tensor", "Storage")
        size = encoder.number("l", len(elements))
        start = head + self._class(storage_type, 1) + size
        if len(elements) * elements.element_size() >= _ALIGNED:
            # Blanks behind the version number, which Lua's reader ignores, align the elements, so
            # that this library can map them later.
            blanks = encoder.padding(position + len(start))
            start = head + self._class(storage_type, 1, blanks) + size
        yield start
        yield from encoder.elements(elements)


def _code(value: Any) -> int | None:
    """Return the type code of an object with an index, or of a function in the oldest form."""
    if isinstance(value, (torch.Tensor, np.ndarray, Storage, TorchObject)):
        return 4
    if registry.find_class(type(value)) is not None:
        return 4
    if isinstance(value, (list, tuple, dict)):
        return 3
    if isinstance(value, LuaFunction):
        return value.code
    return None


def _check_keys(table: dict[Any, Any]) -> None:
    """Raise T7Error if two keys of a dict are the same key in Lua."""
    for key in [key for key in table if type(key) is bytes or type(key) is Key]:
        same = text(key) if isinstance(key, bytes) else key.value
        if isinstance(same, bool):
            clash = any(other is same for other in table)
        else:
            clash = isinstance(same, str) and same in table
        if clash:
            raise T7Error(f"the keys {key!r} and {same!r}", "keys that differ in Lua")


def _plain_tensor(value: torch.Tensor | np.ndarray) -> torch.Tensor:
    """Return a tensor of one of Torch7's types on the same memory."""
    if isinstance(value, np.ndarray):
        value = _from_numpy(value)
    tensor = value.detach()
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise T7Error(
            f"a tensor of layout {tensor.layout} on {tensor.device}", "a dense tensor with data"
        )
    if tensor.dtype is torch.bool:
        tensor = tensor.view(torch.uint8)
    if tensor.dtype not in TENSOR_DTYPES.values():
        raise T7Error(
            f"a tensor of {tensor.dtype}",
            "one of Torch7's types: uint8, int8, int16, int32, int64, float16, float32, float64",
            hint="convert it first, e.g. tensor.float()",
        )
    return tensor.resolve_neg()


def _from_numpy(array: np.ndarray) -> torch.Tensor:
    array = array.astype(array.dtype.newbyteorder("="), copy=not array.flags.writeable)
    try:
        return torch.from_numpy(array)
    except ValueError:
        return torch.from_numpy(array.copy())  # negative strides
    except TypeError:
        raise T7Error(f"an array of {array.dtype}", "one of Torch7's types of numbers") from None


def _moved_by(tensor_type: str, tensor: torch.Tensor, named: str) -> bool:
    """Return whether a CPU tensor in a module of this type stands for a GPU tensor."""
    return (
        not named
        and is_cuda_type(tensor_type)
        and tensor.is_floating_point()
        and TENSOR_DTYPES.get(tensor_type) is tensor.dtype
    )
