"""A Lua state with Torch7 in it, and the values that pass between it and Python."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import torch

from compat import cutorch, scalar_math, storage_changes, thread_calls
from compat.lua import language, system
from compat.lua.calls import Calls
from compat.lua.errors import INTERRUPTION, LuaError
from compat.lua.exchange import Exchange
from compat.lua.finding import Packages
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
from compat.lua.settings import Settings
from compat.lua.state import (
    AT_HOME,
    COLLECT_IN_ONE_STEP,
    FOLDER,
    START,
    compiled_core,
    implementation,
    new_state,
)
from compat.lua.tables import Tables
from compat.lua.values import LuaFunction, LuaOutput, LuaTable, LuaThread, handle
from compat.t7.base.types import is_cuda_type
from compat.tensor_types import parse_type
from compat.torch_internals import storage_identity

# All objects of Python have one metatable in Lua.
_CLOSE = """
local mt = debug.getmetatable((...))
local function closed() error('the runtime has been closed', 0) end
for event in pairs(mt) do
   if event ~= '__gc' and event ~= '__metatable' then mt[event] = closed end
end
"""


def _functions_of(*modules: Any) -> dict[str, Callable[..., Any]]:
    """Return the public functions that modules define."""
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and not isinstance(value, type)
        and getattr(value, "__module__", "").startswith("compat.")
    }


def _thnn() -> Any:
    """Return THNN's functions; imports the formulas of nets, which scripts without nets do not
    need.
    """
    return importlib.import_module("compat.lua.kernels.thnn")


def _kernels() -> dict[str, Callable[..., Any]]:
    found = _functions_of(reductions, shapes, indexing, linear_algebra, randomness)
    for module in (pointwise, linear_algebra, randomness):
        found |= module.KERNELS
    found["range"] = shapes.range_
    return found


class Runtime:
    """A Lua state with Torch7's packages.

    Values pass both ways. Tensors keep their memory and identity. Functions, numbers and strings
    (bytes in Lua, latin-1 text here) are converted; None is nil. Lists and dicts are tables that
    pass reads and writes on. Lua's tables become lists if their keys are 1…n, else dicts; a table
    with a metatable becomes a ``LuaTable``.

    Args:
        default_type: the type of ``torch.Tensor``, and with it PyTorch's default.
        standard_output: send what Python prints through Lua's standard output.
        worker_of: the runtime that this one, in another thread, works for: it finds the same
            packages, and does not change PyTorch's default type.

    Raises:
        ImportError: lupa is not installed.
    """

    # Called with every new state, those of threads included.
    at_start: ClassVar[list[Callable[[Runtime], None]]] = []
    # Whether modules fill their results' tensors again in every pass, as Torch7's do.
    reuses_buffers: ClassVar[bool] = True
    exchange_kind: ClassVar[type[Exchange]] = Exchange

    def __init__(
        self,
        default_type: str = "torch.DoubleTensor",
        standard_output: bool = False,
        worker_of: Runtime | None = None,
    ) -> None:
        self.implementation = implementation(os.environ.get("DPTABLE_LUA"))
        self.lua = new_state(self.implementation)
        self._escaped = self.implementation.LuaError
        self.lua.execute(COLLECT_IN_ONE_STEP)
        self._at_home = self.lua.eval(AT_HOME)
        raw_kind = type(self.lua.eval("newproxy()"))
        self.exchange = self.exchange_kind(self, raw_kind, self.implementation.as_attrgetter)
        self._is_worker = worker_of is not None
        # The thread that has nets in this state, and makes calls for those that work for it.
        self.home: int | None = None
        # The type of torch.Tensor where that is one for GPUs.
        self.default_gpu_type: str | None = None
        # What is in force while this state runs; those that work for another one have its.
        self.settings: Settings = worker_of.settings if worker_of else Settings()
        # Called before the script ends the process.
        self.before_exit: list[Callable[[], None]] = []
        self._thread = threading.get_ident()
        self.calls = Calls(self.exchange.classified, self.lua.table_from, self.keys_from)
        # How many runs of this state there are, each called by Python that the one before called.
        self._depth = 0
        self._t7 = self._load_core()
        self.packages = Packages(self.lua, self._t7)
        self.packages.preload()
        if worker_of is not None:
            self.packages.add(worker_of.packages.folders, worker_of.packages.original)
        _runtimes.append(weakref.ref(self, _runtimes.remove))
        self._t7.torch.setdefaulttensortype(default_type)
        if standard_output:
            write = self.lua.eval("function(text) io.stdout:write(text) end")
            sys.stdout = LuaOutput(write, self.flush)
        for begin in self.at_start:
            begin(self)

    def __del__(self) -> None:
        # Lua calls finalisers while its state closes, when Python's objects in it are gone.
        with contextlib.suppress(Exception):
            self.lua.execute(_CLOSE, self)

    # Making the state -----------------------------------------------------------------------------

    def _load_core(self) -> Any:
        lua = self.lua
        functions = _functions_of(memory) | self._helpers()
        python = lua.table_from(functions)
        kernels = _kernels() | {
            "makers": lua.table_from(pointwise.MAKERS),
            "floating_makers": lua.table_from(pointwise.FLOATING_MAKERS),
        }
        python["kernels"] = lua.table_from(kernels)
        tables = Tables(self.exchange.classified, self.keys_from, self.calls.replace)
        python["tables"] = self.faces(tables.functions())
        python["calls"] = lua.table_from(self.calls.functions())
        t7 = lua.execute(START, python, str(FOLDER / "modules"))
        load = lua.eval("function(code, t7) return assert(loadstring(code))(t7) end")
        for code in compiled_core(self.implementation):
            load(code, t7)
        language.install(lua, t7)
        # Looked up now: where a coroutine runs, lupa gives with an entry what is on the main
        # thread's stack.
        self._invoke = t7.invoke
        self._access = dict(t7.access.items())
        self.exchange.knows_tensor, self.exchange.refresh = t7.knows_tensor, t7.refresh
        return t7

    def _helpers(self) -> dict[str, Callable[..., Any]]:
        """Return the functions, besides kernels, that the Lua side calls."""
        return {
            "describe_error": describe_error,
            "set_default_type": self._set_default_type,
            "describe_tensor": self.exchange.describe_tensor,
            "move": self.exchange.move,
            "this_runtime": lambda: self,
            "classify": self.exchange.classify,
            "represent": self.exchange.representation,
            "watched": self.exchange.watched,
            "method_names": lambda owner: self.lua.table_from(_method_names(type(owner))),
            "make_dict": lambda: {},
            "make_table": lambda table, *_: LuaTable(self, self._at_home(table)),
            "make_function": self._make_function,
            "make_object": lambda handle: handle,
            "make_thread": lambda box: LuaThread(self, self._at_home(box)),
            "handle": lambda value: handle(value, self),
            "address": id,
            "install_objects": self._install_objects,
            "storage_tensor": lambda storage: storage.tensor,
            "storage_identity": storage_identity,
            "value_of_key": lambda key: key.value,
            "text_of": bytes,
            "import_module": importlib.import_module,
            "attribute": getattr,
            "set_attribute": setattr,
            "thnn_function": lambda name: _thnn().describe(name),
            "thnn_names": lambda: _thnn().names(),
            "shaped": lambda tensor, *shape: tensor.reshape(shape),
            "log1p": scalar_math.log1p,
            "single": lambda x: torch.tensor(x, dtype=torch.float32).item(),
            "exit": self._exit,
            "execute": system.execute,
            "named_pipe": system.named_pipe,
            "now": time.time,
            "process_time": lambda: os.times()[:2],
            "isatty": os.isatty,
            "processor_count": os.cpu_count,
            "get_threads": torch.get_num_threads,
            "set_threads": torch.set_num_threads,
        }

    def _make_function(self, function: Any, address: int) -> LuaFunction:
        return LuaFunction(self, self._at_home(function), address)

    def _set_default_type(self, name: str) -> None:
        self.default_gpu_type = name if is_cuda_type(name) else None
        dtype = parse_type(name)[0]
        # PyTorch allows no other.
        if not self._is_worker and dtype in (torch.float32, torch.float64):
            self.settings.set_default_dtype(dtype)

    # Values ---------------------------------------------------------------------------------------

    def keys_from(self, keys: list[Any]) -> Any:
        """Return a new table of Lua that lists the keys of one of Python's."""
        return self.lua.table_from(keys)

    def faces(self, functions: dict[str, Callable[..., Any]]) -> Any:
        """Return the functions by which Lua reads and writes what Python has, as a table of Lua."""
        return self.lua.table_from(functions)

    def _install_objects(self) -> Any:
        """Bring the classes of nets; imports them, which scripts without nets do not need."""
        return importlib.import_module("compat.lua.objects").install(self)

    def add_packages(self, folders: Iterable[str], original: Iterable[str] = ()) -> None:
        """Let ``require`` find packages in other folders, too; see ``Packages.add``.

        Args:
            folders: folders of packages: the ``share/lua/5.1`` of an old installation, checkouts.
            original: names of packages to take from there although this library has them.

        Raises:
            NotADirectoryError: a folder does not exist.
        """
        self.packages.add(folders, original)

    def represent(self, kind: type, convert: Callable[[Any], Any]) -> None:
        """Register ``convert``, which makes the Lua value for an object of the class.

        Args:
            kind: a class of Python.
            convert: a function of an object of the class, which returns a value that Lua can hold.
        """
        self.exchange.represent(kind, convert)

    def invoke(self, function: Any, *args: Any) -> Any:
        """Call a function of Lua, as lupa has it, with Python's values.

        Raises:
            LuaError: it raised an error.
        """
        if thread_calls.is_working_for(self.home):
            # A replica's thread: the state belongs to the one that waits for it.
            assert self.home is not None
            device = cutorch.getDevice()

            def work() -> Any:
                with cutorch.device_guard(device):
                    return self.invoke(function, *args)

            return thread_calls.send(self.home, work)
        self._thread = threading.get_ident()
        self.exchange.refresh_moved()
        is_called = self._depth > 0
        told, floor = self.calls.enter(is_called)
        self._depth += 1
        if not is_called and not self._is_worker:
            self.settings.begin()
        try:
            answer = self._invoke(told, is_called, function, *args)
            if answer is True:
                return None
            ok, *results = answer
            if ok:
                results = self.calls.decoded(results)
                return results[0] if len(results) == 1 else tuple(results)
        except self._escaped as escaped:
            # Ctrl-C came where no function of Lua is protected.
            raise LuaError(str(escaped).split("\n")[0] or INTERRUPTION) from None
        finally:
            self._depth -= 1
            self.calls.leave(floor)
            if not is_called and not self._is_worker:
                self.settings.end()
        message, traceback, kept = results[:3]
        error = LuaError(message, traceback=traceback)
        error.kept = kept
        raise error

    def access(self, name: str, *args: Any) -> Any:
        """Call one of the functions of core/exchange.lua."""
        return self.invoke(self._access[name], *args)

    def refresh(self, tensors: Iterable[torch.Tensor]) -> None:
        """Look again at tensors whose memory is another now."""
        self.exchange.note_moved(tensors)
        # Another thread may be in this state, waiting for us.
        if self._thread == threading.get_ident():
            self.exchange.refresh_moved()

    # Running --------------------------------------------------------------------------------------

    def execute(self, code: str, *args: Any, name: str = "=python") -> Any:
        """Run Lua code; ``args`` are its ``...``. Returns what it returns.

        Args:
            code: Lua source.
            args: values of Python. Tensors are not copied.
            name: what errors call the source; it begins with ``=`` or ``@``, as in Lua.

        Returns:
            None, the one result, or a tuple of several.

        Raises:
            LuaError: the code does not compile, or ended in an error.

        Examples:
            >>> import torch
            >>> from compat import lua
            >>> runtime = lua.Runtime()
            >>> runtime.execute("local x, y = ...; return x:sum(), y + 1", torch.ones(3), 4)
            (3, 5)
        """
        return self.access("execute", code, name, *args)

    def eval(self, expression: str, *args: Any) -> Any:
        """Return the value of a Lua expression.

        Args:
            expression: an expression of Lua, in which ``...`` is ``args``.
            args: values of Python.

        Raises:
            LuaError: it does not compile, or ended in an error.
        """
        return self.execute(f"return {expression}", *args)

    def globals(self) -> LuaTable:
        """Return the global variables: ``runtime.globals().net``."""
        return LuaTable(self, self._at_home(self.lua.globals()))

    def require(self, name: str) -> Any:
        """Call Lua's ``require``.

        Args:
            name: the package, such as ``nn`` or ``models.resnet``.

        Returns:
            What the package returns.

        Raises:
            LuaError: there is no such package, or its code ended in an error.
        """
        return self.access("require", name)

    def run(self, path: str | os.PathLike[str], *args: str) -> Any:
        """Run a script with its arguments, which it finds in ``arg`` and ``...``.

        Args:
            path: the script.
            args: its arguments.

        Returns:
            What the script returns.

        Raises:
            LuaError: the script ended in an error.
        """
        return self.access("run", os.fspath(path), *args)

    def close(self) -> None:
        """Write out what Lua has printed."""
        self.flush()

    def flush(self) -> None:
        """Write out what Lua has printed."""
        self.lua.execute("io.stdout:flush()")

    def _exit(self, code: float | str) -> None:
        for end in self.before_exit:
            end()
        self.flush()
        sys.stderr.flush()
        os._exit(int(float(code)))


def describe_error(error: Any) -> tuple[str, str, int | None]:
    """Describe an exception for Lua: kind, text, number of the argument or the error itself."""
    if "origin" in getattr(error, "__dict__", ()):
        return "net", str(error), getattr(error, "kept", None)
    if isinstance(error, ArgumentError):
        return "argument", str(error), error.number
    if isinstance(error, LuaError) and error.kept is not None:
        return "lua", str(error), error.kept
    if isinstance(error, KeyboardInterrupt):
        return "error", "interrupted!", None
    return "error", str(error) or type(error).__name__, None


def _method_names(cls: type) -> list[str]:
    """Return the methods that Torch7 has, too: its names have no underscores."""
    return [name for name in dir(cls) if "_" not in name and callable(getattr(cls, name))]


# Threads make runtimes while others go through them. Copying a list is one step for Python's lock,
# copying a WeakSet is not.
_runtimes: list[weakref.ref[Runtime]] = []


def _refresh_all(tensors: list[torch.Tensor]) -> None:
    for reference in _runtimes.copy():
        runtime = reference()
        if runtime is not None:
            runtime.refresh(tensors)


storage_changes.listeners.append(_refresh_all)


def run(path: str | os.PathLike[str], *args: str) -> Any:
    """Run a Lua script in a runtime of its own; see ``Runtime.run``.

    Args:
        path: the script.
        args: its arguments, strings.

    Returns:
        What the script returns.

    Raises:
        LuaError: the script ended in an error.
    """
    runtime = Runtime()
    try:
        return runtime.run(path, *args)
    finally:
        runtime.close()
