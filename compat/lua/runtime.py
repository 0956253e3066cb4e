"""A Lua state with Torch7 in it, and the values that pass between it and Python."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import torch

from compat import cutorch, errands, moves
from compat.lua import language, system
from compat.lua.calls import Calls
from compat.lua.errors import INTERRUPTION, LuaError
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
from compat.lua.tables import LuaDict, Tables
from compat.lua.values import LuaFunction, LuaOutput, LuaTable, LuaThread, handle
from compat.t7.base.types import Key, Storage, is_cuda_type
from compat.t7.objects.registry import find_class
from compat.tensor_types import parse_type

_FOLDER = Path(__file__).parent
# In the order in which they need each other.
_CORE = (
    "classes", "init", "memory", "tensors", "loops", "signatures", "operations", "dispatch",
    "Tensor", "FFInterface", "types", "tables", "exchange", "objects", "thnn", "libraries", "files",
    "File", "Timer", "CmdLine",
    "TestSuite", "Tester",
)  # fmt: skip

# Compiled code that LuaJIT stitches together around calls of C never looks whether Ctrl-C was
# pressed, and takes longer where the calls are Python's.
_START = """
local python, folder = ...
local ok, ffi = pcall(require, 'ffi')
if jit and jit.version_num >= 20100 then jit.opt.start('minstitch=1000000') end
torch = {}
return {python = python, torch = torch, ops = {}, ffi = ok and ffi or nil, package_folder = folder}
"""
_PRELOAD = """
function(name, path)
   package.preload[name] = function(...) return assert(loadfile(path))(...) end
end
"""
_COMPILE = "function(text, name) return string.dump(assert(loadstring(text, name))) end"
# What stands for libraries of C, also under packages that are taken from elsewhere.
_IN_C = {"nn.THNN", "cunn.THCUNN"}
# Packages whose classes are those of compat, as nn's are.
_ON_OUR_NN = {"graph", "nngraph", "rnn", "dpnn", "cunn", "cudnn", "optnet"}
_FORGET = """
local name = ...
local kept = {select(2, ...)}
for _, part in ipairs(kept) do kept[part] = true end
for loaded in pairs(package.preload) do
   if (loaded == name or loaded:sub(1, #name + 1) == name .. '.') and not kept[loaded] then
      package.preload[loaded] = nil
   end
end
"""
_SEARCH = """
local find = ...
table.insert(package.loaders, function(name)
   local path = find(name)
   return path and assert(loadfile(path)) or nil
end)
"""
_REFUSE = """
local refused = {}
for _, name in ipairs{...} do refused[name] = true end
table.insert(package.loaders, function(name)
   if not refused[name] then return nil end
   error(name .. " that comes along works with our nn only, and the original was not found", 0)
end)
"""


# lupa finds the wrapper of a Python object in a weak table. When Lua has cleared a dead wrapper
# there and not finalised it yet, another one may be made of the same object, whose reference the
# finaliser then drops: Lua holds an object that Python frees. Collections in one step leave no such
# moment.
_COLLECT_IN_ONE_STEP = """
local collectgarbage = collectgarbage
local said = collectgarbage('setstepmul', 0)
function _G.collectgarbage(option, ...)
   if option ~= 'setstepmul' then return collectgarbage(option, ...) end
   local before = said
   said = tonumber((...)) or 0
   return before
end
"""


# lupa's objects remember the coroutine that they came from, and use it when they are dropped,
# though Lua may have freed it. What Python keeps goes through this function of the main one.
_AT_HOME = "function(...) return ... end"


# All objects of Python have one metatable in Lua.
_CLOSE = """
local mt = debug.getmetatable((...))
local function closed() error('the runtime has been closed', 0) end
for event in pairs(mt) do
   if event ~= '__gc' and event ~= '__metatable' then mt[event] = closed end
end
"""


def _functions_of(*modules: Any) -> dict[str, Callable[..., Any]]:
    """The public functions that modules define."""
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
    """THNN's functions; imports the formulas of nets, which scripts without nets do not need."""
    return importlib.import_module("compat.lua.kernels.thnn")


def _kernels() -> dict[str, Callable[..., Any]]:
    found = _functions_of(reductions, shapes, indexing, linear_algebra, randomness)
    for module in (pointwise, linear_algebra, randomness):
        found |= module.KERNELS
    found["range"] = shapes.range_
    return found


class Runtime:
    """A Lua state with Torch7's packages.

    Values pass both ways: tensors without a copy and with their identity, functions, numbers,
    strings (bytes in Lua, latin-1 text here), None as nil; lists and dicts as new tables, and
    tables as lists where their keys are 1…n, as dicts otherwise; tables of classes as
    ``LuaTable``.

    Args:
        default_type: the type of ``torch.Tensor``, and with it PyTorch's default.
        standard_output: send what Python prints through Lua's standard output.
        worker_of: the runtime that this one, in another thread, works for: it finds the same
            packages, and leaves PyTorch's default type alone.

    Raises:
        ImportError: lupa is not installed.
    """

    # Called with every new state, those of threads included.
    at_start: ClassVar[list[Callable[[Runtime], None]]] = []
    # Whether modules fill their results' tensors again in every pass, as Torch7's do.
    reuses_buffers: ClassVar[bool] = True

    def __init__(
        self,
        default_type: str = "torch.DoubleTensor",
        standard_output: bool = False,
        worker_of: Runtime | None = None,
    ) -> None:
        self._implementation = _implementation(os.environ.get("DPTABLE_LUA"))
        self.lua = _new_state(self._implementation)
        self._escaped = self._implementation.LuaError
        self.lua.execute(_COLLECT_IN_ONE_STEP)
        self._at_home = self.lua.eval(_AT_HOME)
        # What lupa gives Python for userdata, which Lua gets back as it was.
        self.raw_kind = type(self.lua.eval("newproxy()"))
        self._is_worker = worker_of is not None
        # The thread that has nets in this state, and does errands for those that work for it.
        self.home: int | None = None
        # The classes whose objects are tables in Lua; see compat.lua.objects.
        self.instance_kinds: tuple[type, ...] = ()
        # The type of torch.Tensor where that is one for GPUs.
        self.default_gpu_type: str | None = None
        # What is in force while this state runs; those that work for another one have its.
        self.settings: Settings = worker_of.settings if worker_of else Settings()
        # Called before the script ends the process.
        self.before_exit: list[Callable[[], None]] = []
        self._representations: list[tuple[type, Callable[[Any], Any]]] = []
        self._thread = threading.get_ident()
        # Tensors that have other memory than when Lua saw them.
        self._moved: list[weakref.ref[torch.Tensor]] = []
        # How tensors were when Lua last looked, by their identities.
        self._seen: dict[int, tuple[Any, ...]] = {}
        self.calls = Calls(self.classified, self.has_seen, self.lua.table_from)
        # How many runs of this state there are, each called by Python that the one before called.
        self._depth = 0
        self._t7 = self._load_core()
        self._find_modules()
        self.packages: tuple[list[str], list[str]] = ([], [])
        if worker_of is not None:
            self.add_packages(*worker_of.packages)
        _runtimes.add(self)
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
        tables = Tables(self.classified, lua.table_from, self.calls.replace)
        python["tables"] = lua.table_from(tables.functions())
        python["calls"] = lua.table_from(self.calls.functions())
        t7 = lua.execute(_START, python, str(_FOLDER / "modules"))
        load = lua.eval("function(code, t7) return assert(loadstring(code))(t7) end")
        for code in _compiled_core(self._implementation):
            load(code, t7)
        language.install(lua, t7)
        return t7

    def _helpers(self) -> dict[str, Callable[..., Any]]:
        """What the Lua side calls beside kernels."""
        return {
            "describe_error": _describe_error,
            "set_default_type": self._set_default_type,
            "describe_tensor": self._describe_tensor,
            "this_runtime": lambda: self,
            "classify": self._classify,
            "represent": self._represent,
            "method_names": lambda owner: self.lua.table_from(_method_names(type(owner))),
            "make_dict": lambda: {},
            "make_table": lambda table: LuaTable(self, self._at_home(table)),
            "make_function": self._make_function,
            "make_thread": lambda box: LuaThread(self, self._at_home(box)),
            "handle": lambda value: handle(value, self),
            "address": id,
            "install_objects": self._install_objects,
            "storage_tensor": lambda storage: storage.tensor,
            "value_of_key": lambda key: key.value,
            "text_of": lambda data: bytes(data).decode("latin-1"),
            "import_module": importlib.import_module,
            "attribute": getattr,
            "set_attribute": setattr,
            "thnn_function": lambda name: _thnn().describe(name),
            "thnn_names": lambda: _thnn().names(),
            "shaped": lambda tensor, *shape: tensor.reshape(shape),
            "log1p": math.log1p,
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

    def _find_modules(self) -> None:
        """Every file of compat/lua/modules is there for ``require`` under its name."""
        preload = self.lua.eval(_PRELOAD)
        for name, path in _modules().items():
            preload(name, path)
        # Torch's own first line; scripts count on the name.
        self.lua.require("paths")

    def add_packages(self, folders: Iterable[str], original: Iterable[str] = ()) -> None:
        """Have ``require`` find packages in other folders, too, after those of ``LUA_PATH``.

        Args:
            folders: installations of Torch7 (``share/lua/5.1`` below them is looked at), or folders
                with checkouts: of these also what an installation would move, such as tests.
            original: packages to take from there, though they come with this library, too.

        Raises:
            NotADirectoryError: one of the folders does not exist, or is none.
        """
        folders, original = list(folders), list(original)
        for folder in folders:
            if not Path(folder).is_dir():
                raise NotADirectoryError(f"there is no folder {folder}")
        if folders and not self.packages[0]:
            self._t7.find_in_checkouts = self._find_in_checkouts
            self.lua.execute(_SEARCH, self._find_in_checkouts)
        self.packages = (self.packages[0] + folders, self.packages[1] + original)
        path = [str(self.lua.globals().package.path)]
        for folder in folders:
            for below in ("install/share/lua/5.1", "share/lua/5.1", "lua", ""):
                place = Path(folder, below)
                if place.is_dir():
                    path += [f"{place}/?.lua", f"{place}/?/init.lua"]
        self.lua.globals().package.path = ";".join(path)
        # With the original nn go the originals of what builds on it.
        others = sorted(_ON_OUR_NN - set(original)) if "nn" in original else []
        for name in original + others:
            self.lua.execute(_FORGET, name, *sorted(_IN_C))
        if others:
            self.lua.execute(_REFUSE, *others)

    def _find_in_checkouts(self, name: str) -> str | None:
        """The file of a module in a checkout that is not laid out as an installation is.

        ``dpnn.test`` is in ``dpnn/test/test.lua``, ``moses`` in ``Moses/moses.lua``, ``nnx`` in
        ``lua---nnx/init.lua``.
        """
        package, *parts = name.split(".")
        inner = Path(*parts) if parts else Path(package)
        patterns = [f"{inner}.lua", f"*/{inner}.lua", *([] if parts else ["init.lua"])]
        for folder in map(Path, self.packages[0]):
            places = {place: place.name.lower() for place in sorted(folder.glob("*/"))}
            exact = [place for place, called in places.items() if called == package]
            alike = [
                place
                for place, called in places.items()
                if called.removesuffix(".torch").split("-")[-1] == package and place not in exact
            ]
            for place in exact + alike:
                for pattern in patterns:
                    for found in sorted(place.glob(pattern)):
                        return str(found)
        return None

    # Values ---------------------------------------------------------------------------------------

    def _install_objects(self) -> Any:
        """Bring the classes of nets; imports them, which scripts without nets do not need."""
        return importlib.import_module("compat.lua.objects").install(self)

    def represent(self, kind: type, convert: Callable[[Any], Any]) -> None:
        """Have ``convert(object)`` make the Lua value for Python objects of a class."""
        self._representations.insert(0, (kind, convert))

    def _represent(self, value: Any) -> Any:
        return next(
            convert(value) for kind, convert in self._representations if isinstance(value, kind)
        )

    def _describe_tensor(self, tensor: torch.Tensor) -> tuple[Any, ...]:
        """``describe_tensor``, and a note of what Lua has seen."""
        if len(self._seen) > _MANY:
            self._seen.clear()
        self._seen[id(tensor)] = _looks(tensor)
        return memory.describe_tensor(tensor)

    def has_seen(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is as it was when Lua last looked."""
        return self._seen.get(id(tensor)) == _looks(tensor)

    def classified(self, value: Any) -> Any:
        """A value, and what ``_classify`` says of it, if Lua is to do anything with it."""
        kind = type(value)
        if value is None or kind in _PLAIN:
            return value
        if kind is list or kind is dict or kind is LuaDict:
            return value, "table", id(value)
        if kind is torch.Tensor and not self._moved:
            identity = id(value)
            seen = self._seen.get(identity) == _looks(value)
            return (value, "seen", identity) if seen else (value, "tensor")
        if kind is self.raw_kind:
            return value
        found = self._classify(value)
        return (value, found) if isinstance(found, str) else (value, *found)

    def _classify(self, value: Any) -> str | tuple[str, int]:
        """How Lua takes a Python object, and the identity of one that it may know."""
        if self._moved:
            self._look_again()
        if type(value) is torch.Tensor:
            # Where it is as it was, there is nothing to describe.
            return ("seen", id(value)) if self.has_seen(value) else "tensor"
        if isinstance(value, (list, dict)):
            return "table", id(value)
        if any(isinstance(value, kind) for kind, _ in self._representations):
            return "represented"
        if isinstance(value, torch.Tensor):
            return "tensor"
        if self.instance_kinds:
            if isinstance(value, self.instance_kinds):
                return "instance"
            if isinstance(value, Storage):
                return "storage"
            if isinstance(value, Key):
                return "key"
            if isinstance(value, type) and issubclass(value, self.instance_kinds):
                return "class"
            if find_class(type(value)) is not None or isinstance(
                getattr(type(value), "typename", None), str
            ):
                return "instance"
        if isinstance(value, tuple):
            return "items"
        if isinstance(value, (bytes, bytearray)):
            return "bytes"
        if isinstance(value, (LuaFunction, LuaTable)) and handle(value, self) is not None:
            return "handle"
        if isinstance(value, LuaThread) and handle(value, self) is not None:
            return "thread"
        return "callable" if callable(value) else "object"

    def invoke(self, function: Any, *args: Any) -> Any:
        """Call a function of Lua, as lupa has it, with Python's values.

        Raises:
            LuaError: it raised an error.
        """
        if errands.works_for(self.home):
            # A replica's thread: the state belongs to the one that waits for it.
            assert self.home is not None
            device = cutorch.getDevice()

            def work() -> Any:
                with cutorch.device_guard(device):
                    return self.invoke(function, *args)

            return errands.send(self.home, work)
        self._thread = threading.get_ident()
        if self._moved:
            self._look_again()
        is_called = self._depth > 0
        told, floor = self.calls.enter(is_called)
        self._depth += 1
        if not is_called and not self._is_worker:
            self.settings.begin()
        try:
            answer = self._t7.invoke(told, is_called, function, *args)
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
        return self.invoke(self._t7.access[name], *args)

    def refresh(self, tensors: Iterable[torch.Tensor]) -> None:
        """Look again at tensors whose memory is another now."""
        self._moved += map(weakref.ref, tensors)
        # Another thread may be in this state, waiting for us.
        if self._thread == threading.get_ident():
            self._look_again()

    def _look_again(self) -> None:
        while self._moved:
            tensor = self._moved.pop()()
            # Lua would keep what it is shown, known or not, until it collects garbage.
            if tensor is not None and self._t7.knows_tensor(id(tensor)):
                self._t7.refresh(tensor)

    # Running --------------------------------------------------------------------------------------

    def execute(self, code: str, *args: Any, name: str = "=python") -> Any:
        """Run Lua code; ``args`` are its ``...``. Returns what it returns."""
        return self.access("execute", code, name, *args)

    def eval(self, expression: str, *args: Any) -> Any:
        """The value of a Lua expression."""
        return self.execute(f"return {expression}", *args)

    def globals(self) -> LuaTable:
        """The global variables: ``runtime.globals().net``."""
        return LuaTable(self, self._at_home(self.lua.globals()))

    def require(self, name: str) -> Any:
        """Lua's ``require``."""
        return self.access("require", name)

    def run(self, path: str | os.PathLike[str], *args: str) -> Any:
        """Run a script with its arguments, which it finds in ``arg`` and ``...``.

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

    def _exit(self, code: int) -> None:
        for end in self.before_exit:
            end()
        self.flush()
        sys.stderr.flush()
        os._exit(code)


# What both languages have.
_PLAIN = frozenset((bool, int, float, str))
# So many tensors are remembered at most.
_MANY = 1 << 12


def _looks(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Where a tensor is, how it lies there, and what its type is called."""
    type = tensor.__dict__.get("torch7_type")
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, type


def _describe_error(error: Any) -> tuple[str, str, int | None]:
    """What Lua is to make of an exception: kind, text, number of the argument or error."""
    if "origin" in getattr(error, "__dict__", ()):
        return "net", str(error), error.kept if isinstance(error, LuaError) else None
    if isinstance(error, ArgumentError):
        return "argument", str(error), error.number
    if isinstance(error, LuaError) and error.kept is not None:
        return "lua", str(error), error.kept
    if isinstance(error, KeyboardInterrupt):
        return "error", "interrupted!", None
    return "error", str(error) or type(error).__name__, None


def _method_names(cls: type) -> list[str]:
    """The methods that Torch7 has, too: its names have no underscores."""
    return [name for name in dir(cls) if "_" not in name and callable(getattr(cls, name))]


# From the best to the one that every wheel of lupa has.
_IMPLEMENTATIONS = ("luajit21", "luajit20", "lua51")


@functools.cache
def _implementation(name: str | None) -> Any:
    """The Lua that lupa has here: LuaJIT, else Lua 5.1; or the one of this name."""
    if importlib.util.find_spec("lupa") is None:
        raise ImportError('Lua needs lupa; `pip install "dptable[lua]"` installs it')
    if name and name not in _IMPLEMENTATIONS:
        accepted = ", ".join(_IMPLEMENTATIONS)
        raise ValueError(f"DPTABLE_LUA is {name!r}; accepted are {accepted}")
    for candidate in (name,) if name else _IMPLEMENTATIONS:
        with contextlib.suppress(ImportError):
            found = importlib.import_module(f"lupa.{candidate}")
            break
    else:
        raise ImportError(f"lupa has no {name or 'Lua 5.1'} here")
    if found.__name__ == "lupa.lua51":
        print("Scripts run slower than usual: this is Lua 5.1, without LuaJIT", file=sys.stderr)
    return found


def _new_state(implementation: Any) -> Any:
    return implementation.LuaRuntime(
        unpack_returned_tuples=True, encoding="latin-1", register_eval=False
    )


@functools.cache
def _compiled_core(implementation: Any) -> list[str]:
    """The bytecode of the core's files for one Lua: to compile them takes most of a start."""
    compile = _new_state(implementation).eval(_COMPILE)
    compiled = []
    for name in _CORE:
        text = (_FOLDER / "core" / f"{name}.lua").read_text("latin-1")
        # Files with a small letter pose as C functions, the others as Torch7's files.
        posing = name[0].islower() and name != "init"
        compiled.append(compile(text, "=(torch)" if posing else f"@torch/{name}.lua"))
    return compiled


@functools.cache
def _modules() -> dict[str, str]:
    """The files of compat/lua/modules by the names that ``require`` takes."""
    folder = _FOLDER / "modules"
    names = {path: path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.lua")}
    return {".".join(names[path]).removesuffix(".init"): str(path) for path in sorted(names)}


_runtimes: weakref.WeakSet[Runtime] = weakref.WeakSet()


def _refresh_all(tensors: list[torch.Tensor]) -> None:
    for runtime in list(_runtimes):
        runtime.refresh(tensors)


moves.listeners.append(_refresh_all)


def run(path: str | os.PathLike[str], *args: str) -> Any:
    """Run a Lua script in a runtime of its own; see ``Runtime.run``."""
    runtime = Runtime()
    try:
        return runtime.run(path, *args)
    finally:
        runtime.close()
