"""A Lua state with Torch7 in it, and the values that pass between it and Python."""

from __future__ import annotations

import importlib
import math
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from compat.lua.errors import LuaError
from compat.lua.kernels import (
    indexing,
    linear_algebra,
    memory,
    pointwise,
    randomness,
    reductions,
    shapes,
)
from compat.lua.kernels.errors import ArgumentError

from compat.t7.base.types import Key, Storage
from compat.t7.objects.registry import find_class

_FOLDER = Path(__file__).parent
_CORE = ("classes", "init", "tensors", "signatures", "operations", "dispatch", "Tensor", "FFInterface",
         "types", "exchange", "objects", "files", "File", "Timer", "CmdLine", "TestSuite", "Tester")  # fmt: skip


def _kernels() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for module in (reductions, shapes, indexing, linear_algebra, randomness):
        found |= {
            name: value
            for name, value in vars(module).items()
            if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") not in ("torch", "typing")
        }
    for module in (pointwise, linear_algebra, randomness):
        found |= module.KERNELS
    found["range"] = shapes.range_
    return found


_MEMORY = (
    "allocator", "resize_storage", "view1", "view2", "view", "move", "describe_tensor", "identify", "base_of",
    "get_item", "set_item", "storage_bytes", "set_storage_bytes", "map_file", "set_default_type", "record_bytes", "set_record_bytes", "as_bytes", "set_from_bytes",
)  # fmt: skip


class LuaTable:
    """A table of Lua: ``table["key"]``, ``table.key``, ``len``, ``keys``, ``items``."""

    def __init__(self, runtime: Runtime, table: Any) -> None:
        self.__dict__.update(_runtime=runtime, _table=table)

    def __getitem__(self, key: Any) -> Any:
        return self._runtime._call("get", self._table, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._runtime._call("set", self._table, key, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __len__(self) -> int:
        return int(self._runtime._call("length", self._table))

    def __call__(self, *args: Any) -> Any:
        return self._runtime._call("call", self._table, *args)

    def keys(self) -> list[Any]:
        """The keys, in no order."""
        found = self._runtime._call("keys", self._table)
        return list(found) if isinstance(found, list) else list(found.values())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def items(self) -> list[tuple[Any, Any]]:
        """Keys and values."""
        return [(key, self[key]) for key in self.keys()]

    def __str__(self) -> str:
        return str(self._runtime._call("tostring", self._table))

    def __deepcopy__(self, memo: dict[int, Any]) -> LuaTable:
        return self


class LuaFunction:
    """A function of Lua. Several results are a tuple."""

    def __init__(self, runtime: Runtime, function: Any) -> None:
        self._runtime, self._function = runtime, function

    def __call__(self, *args: Any) -> Any:
        return self._runtime._invoke(self._function, args)

    def __deepcopy__(self, memo: dict[int, Any]) -> LuaFunction:
        return self


class _LuaOutput:
    """Standard output for Python code, through Lua's: what both print stays in order."""

    def __init__(self, write: Callable[[str], Any], flush: Callable[[], Any]) -> None:
        self._write, self._flush = write, flush
        self.encoding = "utf-8"
        self.errors = "strict"

    def write(self, text: str) -> int:
        self._write(text.encode("utf-8", "surrogateescape").decode("latin-1"))
        return len(text)

    def flush(self) -> None:
        self._flush()

    def isatty(self) -> bool:
        return os.isatty(1)

    def fileno(self) -> int:
        return 1

    def writable(self) -> bool:
        return True


class Runtime:
    """A Lua state with Torch7's packages.

    Values pass both ways: tensors without a copy and with their identity, functions, numbers,
    strings (bytes in Lua, latin-1 text here), None as nil; lists and dicts as new tables, and
    tables as lists where their keys are 1…n, as dicts otherwise; tables of classes as LuaTable.

    Args:
        default_type: the type of ``torch.Tensor``, and so PyTorch's default.
        standard_output: send what Python prints through Lua's standard output.

    Raises:
        ImportError: lupa is not installed.
    """

    def __init__(
        self, default_type: str = "torch.DoubleTensor", standard_output: bool = False
    ) -> None:
        implementation = _implementation()
        self.lua = implementation.LuaRuntime(
            unpack_returned_tuples=True, encoding="latin-1", register_eval=False
        )
        self._error_type = implementation.LuaError
        self.instance_kinds: tuple[type, ...] = ()
        self._hooks: list[tuple[type, Callable[[Any], Any]]] = []
        self._load_core()
        _runtimes.add(self)
        self._t7.torch.setdefaulttensortype(default_type)
        if standard_output:
            output = self.lua.eval("io.stdout")
            self._saved_output = sys.stdout
            write = self.lua.eval("function(text) io.stdout:write(text) end")
            sys.stdout = _LuaOutput(write, lambda: self.flush())  # type: ignore[assignment]
            del output

    # Making the state -----------------------------------------------------------------------------

    def _load_core(self) -> None:
        lua = self.lua
        functions: dict[str, Any] = {name: getattr(memory, name) for name in _MEMORY}
        functions |= {
            "describe_error": self._describe_error,
            "log1p": math.log1p,
            "single": lambda x: torch.tensor(x, dtype=torch.float32).item(),
            "classify": self._classify,
            "make_list": lambda *items: list(items),
            "make_dict": lambda *items: dict(zip(items[::2], items[1::2], strict=True)),
            "list_extend": lambda target, *items: target.extend(items),
            "dict_update": lambda target, *items: target.update(
                zip(items[::2], items[1::2], strict=True)
            ),
            "address": id,
            "install_objects": self._install_objects,
            "table_of_key": lambda key: key.value,
            "storage_tensor": lambda storage: storage.tensor,
            "text_of": lambda data: bytes(data).decode("latin-1"),
            "apply_hook": self._apply_hook,
            "import_module": importlib.import_module,
            "attribute": getattr,
            "set_attribute": setattr,
            "now": time.time,
            "isatty": os.isatty,
            "make_table": lambda table: LuaTable(self, table),
            "make_function": lambda function: LuaFunction(self, function),
            "function_of": lambda f: f._function,
            "table_of": lambda t: t._table,
            "items_of": self._items_of,
            "exit": self._exit,
            "process_time": lambda: os.times()[:2],
            "processor_count": os.cpu_count,
            "get_threads": torch.get_num_threads,
            "set_threads": torch.set_num_threads,
        }
        kernels = lua.table_from(_kernels())
        python = lua.table_from(functions)
        python["kernels"] = kernels
        self._t7 = lua.execute(
            """
            local python, folder = ...
            local ok, ffi = pcall(require, 'ffi')
            torch = {}
            return {python = python, torch = torch, ops = {}, ffi = ok and ffi or nil, package_folder = folder}
            """,
            python,
            str(_FOLDER / "modules"),
        )
        load = lua.eval("function(text, name, t7) return assert(loadstring(text, name))(t7) end")
        for name in _CORE:
            path = _FOLDER / "core" / f"{name}.lua"
            # Files with a small letter pose as C functions, the others as Torch7's files.
            shown = f"@torch/{name}.lua" if name[0].isupper() or name == "init" else "=(torch)"
            load(path.read_text("latin-1"), shown, self._t7)
        self._find_modules()

    def _find_modules(self) -> None:
        """Every file of compat/lua/modules is there for ``require`` under its name."""
        folder = _FOLDER / "modules"
        preload = self.lua.eval("function(name, path) package.preload[name] = function(...) return assert(loadfile(path))(...) end end")
        for path in sorted(folder.rglob("*.lua")):
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            preload(name.removesuffix(".init"), str(path))

    # Values ---------------------------------------------------------------------------------------

    def _classify(self, value: Any) -> str:
        """How Lua takes a Python object."""
        if isinstance(value, torch.Tensor):
            return "tensor"
        if isinstance(value, self.instance_kinds):
            return "instance"
        if isinstance(value, Storage):
            return "storage"
        if self.instance_kinds and isinstance(value, (list, dict)):
            return "twin"
        if isinstance(value, (list, tuple, dict)):
            return "items"
        if isinstance(value, (bytes, bytearray)):
            return "bytes"
        if isinstance(value, LuaFunction) and value._runtime is self:
            return "function"
        if isinstance(value, LuaTable) and value._runtime is self:
            return "table"
        for kind, _ in self._hooks:
            if isinstance(value, kind):
                return "hook"
        if self.instance_kinds:
            if isinstance(value, Key):
                return "key"
            if find_class(type(value)) is not None:
                return "instance"
        return "callable" if callable(value) else "object"

    def _install_objects(self) -> Any:
        """Bring the classes of nets; imports them, which scripts without nets do not need."""
        return importlib.import_module("compat.lua.objects").install(self)

    def _apply_hook(self, value: Any) -> Any:
        return next(convert(value) for kind, convert in self._hooks if isinstance(value, kind))

    def represent(self, kind: type, convert: Callable[[Any], Any]) -> None:
        """Have ``convert(object)`` make the Lua value for Python objects of a class."""
        self._hooks.insert(0, (kind, convert))

    def _items_of(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self.lua.table_from(list(value.keys())), self.lua.table_from(list(value.values())), len(value)
        return None, self.lua.table_from(list(value)), len(value)

    def _describe_error(self, error: Any) -> tuple[Any, ...]:
        """What Lua is to make of an exception: kind, text, number of the argument."""
        if isinstance(error, ArgumentError):
            return "argument", str(error), error.number
        if isinstance(error, LuaError) and error.kept is not None:
            return "lua", str(error), error.kept
        if isinstance(error, KeyboardInterrupt):
            return "error", "interrupted!", None
        if isinstance(error, BaseException):
            return "error", str(error) or type(error).__name__, None
        return "error", str(error), None

    def _invoke(self, function: Any, args: tuple[Any, ...]) -> Any:
        result = self._t7.invoke(function, *args)
        if not isinstance(result, tuple):
            return None
        if result[0]:
            return result[1] if len(result) == 2 else result[1:]
        _, message, traceback, kept, value = result
        error = LuaError(message, value, traceback)
        error.kept = kept
        raise error

    def _call(self, name: str, *args: Any) -> Any:
        return self._invoke(self._t7.access[name], args)

    # Running --------------------------------------------------------------------------------------

    def execute(self, code: str, *args: Any, name: str = "=python") -> Any:
        """Run Lua code; ``args`` are its ``...``. Returns what it returns."""
        return self._call("execute", code, name, *args)

    def eval(self, expression: str, *args: Any) -> Any:
        """The value of a Lua expression."""
        return self.execute(f"return {expression}", *args, name="=python")

    def globals(self) -> LuaTable:
        """The global variables: ``runtime.globals().net``."""
        return LuaTable(self, self.lua.globals())

    def require(self, name: str) -> Any:
        """Lua's ``require``."""
        return self._call("require", name)

    def run(self, path: str | os.PathLike[str], *args: str) -> Any:
        """Run a script with its arguments, which it finds in ``arg`` and ``...``.

        Raises:
            LuaError: the script ended in an error.
        """
        return self._call("run", os.fspath(path), *args)

    def flush(self) -> None:
        """Write out what Lua has printed."""
        self.lua.execute("io.stdout:flush()")

    def _exit(self, code: int) -> None:
        self.flush()
        sys.stderr.flush()
        os._exit(code)


def _implementation() -> Any:
    try:
        import lupa
    except ImportError:
        raise ImportError('Lua needs lupa; `pip install "dptable[lua]"` installs it') from None
    try:
        from lupa import luajit21

        return luajit21
    except ImportError:
        from lupa import lua51

        if not _told:
            _told.append(True)
            print("no LuaJIT in this lupa: Lua 5.1 runs the scripts, slower", file=sys.stderr)
        del lupa
        return lua51


_told: list[bool] = []
_runtimes: weakref.WeakSet[Runtime] = weakref.WeakSet()


def moved(tensors: Iterable[torch.Tensor]) -> None:
    """Tell Lua that tensors were given other memory (``tensor.data = …``)."""
    for runtime in list(_runtimes):
        for tensor in tensors:
            runtime._t7.refresh(tensor)


def run(path: str | os.PathLike[str], *args: str) -> Any:
    """Run a Lua script in a runtime of its own; see ``Runtime.run``."""
    runtime = Runtime()
    try:
        return runtime.run(path, *args)
    finally:
        runtime.flush()
