"""Compiling the backend, once for each version of its sources, of PyTorch and of Python."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import torch

SOURCES = sorted((Path(__file__).parent / "csrc").glob("*.cpp"))
HEADERS = sorted((Path(__file__).parent / "csrc").glob("*.h"))
NAME = "simulator_backend"


class CannotBuild(RuntimeError):
    """This machine lacks what the backend is compiled with."""


def library() -> ModuleType:
    """The compiled backend; it is registered with PyTorch when it is imported.

    Raises :class:`CannotBuild` where it is not in the cache and there is no compiler.
    """
    built = _folder() / f"{NAME}.so"
    if not built.exists():
        _check_tools()
        _compile(built.parent)
    spec = importlib.util.spec_from_file_location(NAME, built)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def why_not() -> str:
    """What :func:`library` would lack here; empty if nothing."""
    if not (_folder() / f"{NAME}.so").exists():
        try:
            _check_tools()
        except CannotBuild as error:
            return str(error)
    return ""


def _folder() -> Path:
    key = hashlib.sha256(f"{torch.__version__} {sys.implementation.cache_tag}".encode())
    for source in [*SOURCES, *HEADERS]:
        key.update(source.read_bytes())
    default = Path.home() / ".cache" / "torch_extensions"
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR", default))
    return root / f"{NAME}-{key.hexdigest()[:16]}"


def _check_tools() -> None:
    if sys.platform != "linux":
        raise CannotBuild("the simulator needs Linux")
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise CannotBuild(f"the simulator needs a C++ compiler; there is no {compiler}")
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        raise CannotBuild("the simulator needs Python.h")
    if shutil.which("ninja") is None and importlib.util.find_spec("ninja") is None:
        raise CannotBuild("the simulator needs ninja: pip install ninja")


def _compile(folder: Path) -> None:
    from torch.utils import cpp_extension

    folder.mkdir(parents=True, exist_ok=True)
    cpp_extension.load(
        NAME,
        [str(source) for source in SOURCES],
        build_directory=str(folder),
        extra_cflags=["-O1", "-g0", "-fvisibility=hidden", "-Wall"],
        extra_ldflags=["-ltorch_python"],
        is_python_module=False,
        verbose=bool(os.environ.get("VERBOSE")),
    )
