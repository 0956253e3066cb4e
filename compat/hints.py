"""Hints in errors about unknown names: what a name of Torch7 or PyTorch is called here.

The tables have Torch7's packages and the names of its package ``torch`` that have no namesake here.
Other packages keep tables of their own, and pass them to ``missing``.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.abc import MetaPathFinder
from typing import Any, NoReturn


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` for the known word nearest to ``word``, or nothing.

    Capitals count less than letters: ``Spatialconvolution`` is near to ``SpatialConvolution``.
    ``MSE`` begins ``MSECriterion``, and ``sdg`` has the letters of ``sgd``.
    """
    spelt = {each.lower(): each for each in known if not each.startswith("_")}
    lower = word.lower()
    nearest = difflib.get_close_matches(lower, spelt, 1, 0.7) if word else []
    if not nearest and len(word) > 2:
        begun = sorted((each for each in spelt if each.startswith(lower)), key=len)
        nearest = begun or [each for each in spelt if sorted(each) == sorted(lower)]
    return f" (did you mean {spelt[nearest[0]]}?)" if nearest else ""


class UnknownName(AttributeError):
    """An unknown field, method or name, with a hint that is made when somebody reads the message.

    Many of these errors are never read: ``hasattr`` and ``getattr`` with a default drop them.

    Args:
        message: what is always said.
        hint: returns the rest.
    """

    def __init__(self, message: str, hint: Callable[[], str]) -> None:
        super().__init__(message)
        self._hint = hint

    def __str__(self) -> str:
        return f"{self.args[0]}{self._hint()}"

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


def _unknown(module: str, name: str) -> str:
    return f"module {module!r} has no attribute {name!r}"


def missing(
    module: str, shown: str, name: str, hints: Mapping[str, str], known: Iterable[str] = ()
) -> AttributeError:
    """Return the error for a name that a module lacks.

    Args:
        module: its ``__name__``.
        shown: what scripts call it.
        name: the name that it lacks.
        hints: for names that people expect there, what to write instead.
        known: the module's public names. The nearest one is suggested for any other name.
    """
    if name in hints:
        return AttributeError(f"{shown}.{name} does not exist here: {hints[name]}", name=name)
    return UnknownName(_unknown(module, name), lambda: suggestion(name, known))


def answers(
    module: str, shown: str, hints: Mapping[str, str], known: Iterable[str]
) -> Callable[[str], NoReturn]:
    """Return a module's ``__getattr__`` that raises ``missing`` with these arguments.

    Assign it where ``TYPE_CHECKING`` is False: otherwise type checkers accept any name.
    """

    def __getattr__(name: str) -> NoReturn:
        raise missing(module, shown, name, hints, known)

    return __getattr__


# Functions of the packages paths and sys, which Python's own library has.
PATHS = {
    "basename": "Path(p).name",
    "concat": "Path('a', 'b')",
    "cwd": "Path.cwd()",
    "dir": "os.listdir(p)",
    "dirname": "Path(p).parent",
    "dirp": "Path(p).is_dir()",
    "dofile": "an import",
    "execdir": "Path(sys.executable).parent",
    "extname": "Path(p).suffix",
    "filep": "Path(p).is_file()",
    "files": "os.listdir(p)",
    "findprogram": "shutil.which(name)",
    "home": "Path.home()",
    "is_mac": "sys.platform == 'darwin'",
    "is_win": "sys.platform == 'win32'",
    "iterdirs": "the entries of Path(p).iterdir() that are is_dir()",
    "iterfiles": "the entries of Path(p).iterdir() that are is_file()",
    "mkdir": "Path(p).mkdir()",
    "rmall": "shutil.rmtree(p)",
    "rmdir": "Path(p).rmdir()",
    "thisfile": "Path(__file__)",
    "tmpname": "tempfile.mkstemp()",
    "uname": "platform.uname()",
}
SYS = {
    "COLORS": "escape sequences; print(..., file=sys.stderr) for what is no result",
    "clock": "time.perf_counter()",
    "execute": "subprocess.run(command, shell=True, capture_output=True, text=True).stdout",
    "fpath": "Path(__file__).parent",
    "isNaN": "math.isnan(x)",
    "sleep": "time.sleep(seconds)",
    "split": "text.split(separator)",
    "tic": "torch7.tic()",
    "toc": "torch7.toc(start)",
    "uname": "platform.system()",
    "usleep": "time.sleep(microseconds / 1e6)",
}

# Packages of Lua Torch7 that are no modules here.
PACKAGES = {
    "argparse": "use argparse of Python",
    "class": "write a Python class",
    "cjson": "use json of Python",
    "csvigo": "use csv of Python",
    "cunn": "import dptable makes nn.DataParallelTable; the layers are in compat.nn",
    "cunnx": "the layers are in compat.nn",
    "cwrap": "PyTorch is called from Python as it is",
    "dok": "use help(…)",
    "dp": "use torch.utils.data and dptable.training",
    "dpnn": "its classes are in compat.nn, and its methods are those of all modules",
    "env": "nothing is needed",
    "ffi": "use ctypes",
    "gnuplot": "use matplotlib, or optim.Logger.plot",
    "inn": "its poolings and normalisations are in torchvision.ops and compat.nn",
    "itorch": "use Jupyter with Python",
    "lfs": "use os and pathlib",
    "mattorch": "use scipy.io",
    "moses": "use list comprehensions and itertools",
    "nccl": "nn.DataParallelTable(1, True, True) uses NCCL where it can",
    "nnx": "what PyTorch lacks of it is in compat.nn",
    "npy4th": "use numpy.load and torch.from_numpy",
    "optnet": "nothing to call: a buffer is freed when backward has used it",
    "paths": f"use pathlib and shutil: {PATHS['concat']} for paths.concat, {PATHS['filep']} for "
    f"filep, {PATHS['dirp']} for dirp, {PATHS['mkdir']} for mkdir, {PATHS['dir']} for dir, "
    f"{PATHS['basename']} for basename, {PATHS['dirname']} for dirname, {PATHS['cwd']} for cwd",
    "pl": "use Python's own lists, strings and pathlib",
    "qt": "use matplotlib",
    "qtwidget": "use matplotlib",
    "signal": "use torch.fft",
    "stn": "use torch.nn.functional.affine_grid and grid_sample",
    "sys": "use time.perf_counter for sys.clock, subprocess.run for sys.execute, time.sleep, os",
    "tds": "tables of files hold tds.Hash and tds.Vec; in scripts, use a dict and a list",
    "tnt": "use torch.utils.data; optim.ConfusionMatrix and a sum and a count are its meters",
    "torchnet": "use torch.utils.data; optim.ConfusionMatrix and a sum and a count are its meters",
    "torchx": "torch.topk, torch.histc and the like are PyTorch's",
    "trepl": "use python or ipython",
}


class HintsOfImports(MetaPathFinder):
    """Keeps the hints of modules in ``from module import name`` and ``import module.name``.

    Where a module's ``__getattr__`` raises AttributeError, Python asks the finders for a submodule
    of that name and then says "cannot import name", without the hint. This finder comes last and
    raises the hint instead. Python asks for packages only, so a module with hints sets
    ``__path__``.

    Args:
        roots: the packages that this holds for, with all that is in them.
    """

    def __init__(self, *roots: str) -> None:
        self._roots = roots

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        home, _, name = fullname.rpartition(".")
        if home.partition(".")[0] not in self._roots or name.startswith("__"):
            return
        # Without the function the module is still being loaded, or has no hints.
        answer = vars(sys.modules[home]).get("__getattr__") if home in sys.modules else None
        try:
            if answer is not None:
                answer(name)
        except AttributeError as error:
            # Without a hint Python's own message says all.
            if str(error) != _unknown(home, name):
                # With a ``name`` Python would drop the error.
                raise ModuleNotFoundError(str(error)) from None


_FILE = (
    "use open(…) of Python; t7.load(path, many=True) reads all objects of a file, t7.save writes "
    "one, or with many=True several"
)
_STORAGE = "t7.Storage([1, 2]) is one of a file; sizes are lists; a tensor has x.untyped_storage()"
_LUA = "it belongs to Lua's objects; Python has classes and attributes"
_TEST = "use pytest and torch.testing.assert_close"
_ALIAS = "use torch7.multinomialAlias(torch7.multinomialAliasSetup(p), n)"
_CONVOLUTION = "use torch.nn.functional.{0}, which correlates; image.convolve for images"

# PyTorch has these under the same name.
_SAME = re.findall(
    r"\w+",
    """
    add addbmm addcdiv addcmul addmm addmv addr all any baddbmm bmm chunk clamp cross cumprod
    cumsum diag dist div dot eq equal eye fmod gather ge geqrf ger gt histc inverse kthvalue le
    lerp logspace lt mean median mm mode mul mv ne neg nonzero norm numel ones orgqr
    ormqr permute prod remainder renorm reshape scatter sign sort split squeeze std sum topk
    trace tril triu var zeros
    """,
)
# PyTorch calls these differently.
_OTHERWISE = {
    "bitand": "bitwise_and",
    "bitor": "bitwise_or",
    "bitxor": "bitwise_xor",
    "cdiv": "div",
    "cfmod": "fmod",
    "cinv": "reciprocal",
    "cmax": "maximum",
    "cmin": "minimum",
    "cmod": "fmod",
    "cmul": "mul",
    "cpow": "pow",
    "cremainder": "remainder",
    "csub": "sub",
    "eig": "linalg.eig",
    "gels": "linalg.lstsq",
    "gesv": "linalg.solve",
    "lshift": "bitwise_left_shift",
    "mod": "fmod",
    "potrf": "linalg.cholesky",
    "potri": "cholesky_inverse",
    "potrs": "cholesky_solve",
    "pstrf": "linalg.cholesky, which does not exchange rows",
    "qr": "linalg.qr",
    "rshift": "bitwise_right_shift",
    "symeig": "linalg.eigh",
    "trtrs": "linalg.solve_triangular",
    "cbitand": "bitwise_and",
    "cbitor": "bitwise_or",
    "cbitxor": "bitwise_xor",
    "clshift": "bitwise_left_shift",
    "crshift": "bitwise_right_shift",
}
# Packages that are here.
_HERE = ("cudnn", "cutorch", "graph", "image", "nn", "nngraph", "optim", "rnn", "threads", "xlua")
_DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
}

# What Torch7's torch has and compat.torch has not.
TORCH = {
    **PACKAGES,
    **{name: f"write from compat import {name}" for name in _HERE},
    **{name: f"use torch.{name}(…); dimensions and indices count from 0" for name in _SAME},
    **{name: f"use torch.{other}" for name, other in _OTHERWISE.items()},
    **{
        f"{name}Tensor": f"use torch.empty(3, dtype=torch.{dtype}), or torch.tensor([1], …)"
        for name, dtype in _DTYPES.items()
    },
    **{
        f"Cuda{name.replace('Float', '')}Tensor": (
            f"use torch.empty(3, dtype=torch.{dtype}, device=cutorch.device(1))"
        )
        for name, dtype in _DTYPES.items()
    },
    **{f"{name}Storage": _STORAGE for name in (*_DTYPES, *(f"Cuda{n}" for n in _DTYPES), "Cuda")},
    "Allocator": "PyTorch chooses its own",
    "DiskFile": _FILE,
    "File": _FILE,
    "MemoryFile": "use io.BytesIO, and torch7.serialize and torch7.deserialize for objects",
    "PipeFile": "use subprocess.Popen",
    "Storage": _STORAGE,
    "Tensor": "use torch.empty(3, 4), or torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
    "TestSuite": _TEST,
    "Tester": _TEST,
    "_gen": "the generator is that of compat.random: torch7.getRNGState()",
    "_heaptracking": "there is no heap to track: Python frees tensors at once",
    "bhistc": "use torch.stack([torch.histc(row, 100) for row in x])",
    "cat": "use torch.cat([x, y], 0); Torch7 joins along the last dimension by default",
    "copy": "use x.copy_(y), or x.clone()",
    "cdata": "use x.data_ptr()",
    "from_numpy": "use torch.from_numpy",
    "manual_seed": "use torch7.manualSeed(1), or torch.manual_seed(1) for PyTorch's generator",
    "no_grad": "nothing is needed: nets record nothing; torch.no_grad() is PyTorch's",
    "class": "write a Python class; @t7.register('my.Class') gives it its name in files",
    "conv2": _CONVOLUTION.format("conv2d"),
    "conv3": _CONVOLUTION.format("conv3d"),
    "data": "use x.numpy() for the elements, x.data_ptr() for the address",
    "deserializeFromStorage": "use torch7.deserialize(data)",
    "expand": "use x.expand(3, 4)",
    "expandAs": "use v.expand_as(x)",
    "factory": _LUA,
    "fill": "use x.fill_(1)",
    "getconstructortable": _LUA,
    "getenv": _LUA,
    "getmetatable": _LUA,
    "getnumcores": "use os.cpu_count()",
    "include": "write an import",
    "isStorage": "use isinstance(x, t7.Storage)",
    "isTypeOf": "use isinstance(m, nn.Linear)",
    "isatty": "use sys.stdout.isatty()",
    "isequal": "use a is b; x.equal(y) compares elements",
    "loadobj": "use torch7.load",
    "match": "use torch.cdist(x, y) ** 2",
    "max": "use x.max(0, keepdim=True), or x.max().item() for a number; indices count from 0",
    "metatype": _LUA,
    "min": "use x.min(0, keepdim=True), or x.min().item() for a number; indices count from 0",
    "multinomialAliasSetup_": _ALIAS,
    "multinomialAlias_": _ALIAS,
    "nElement": "use x.numel()",
    "newmetatable": _LUA,
    "packageLuaPath": "use Path(__file__).parent",
    "pointer": "use id(m), or x.data_ptr() for the elements of a tensor",
    "pushudata": _LUA,
    "repeatTensor": "use x.repeat(2, 1)",
    "saveobj": "use torch7.save",
    "serializeToStorage": "use torch7.serialize(object)",
    "setErrorHandler": "errors are Python's exceptions",
    "setenv": _LUA,
    "setheaptracking": "there is no heap to track: Python frees tensors at once",
    "setmetatable": _LUA,
    "svd": "use torch.linalg.svd(x, full_matrices=False), whose third result is transposed",
    "test": _TEST,
    "totable": "use x.tolist()",
    "updateerrorhandlers": "errors are Python's exceptions",
    "updatethreadlocals": "errors are Python's exceptions",
    "version": "use torch.__version__",
    "view": "use x.view(4, 3)",
    "viewAs": "use x.view_as(y)",
    "xcorr2": "use torch.nn.functional.conv2d",
    "xcorr3": "use torch.nn.functional.conv3d",
    "zero": "use x.zero_()",
}
