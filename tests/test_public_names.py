"""Public modules say what they offer, and offer nothing by accident."""

from __future__ import annotations

import importlib
import inspect
import runpy

import pytest
from support.paths import ROOT

PUBLIC = [
    *("compat", "compat.cudnn", "compat.cutorch", "compat.graph", "compat.hdf5", "compat.image"),
    *("compat.lua", "compat.nn", "compat.nngraph", "compat.optim", "compat.random", "compat.rnn"),
    *("compat.t7", "compat.threads", "compat.torch", "compat.torch_rnn", "compat.viewer"),
    *("compat.xlua", "dptable", "dptable.bucketing", "dptable.checkpoints", "dptable.comm"),
    *("dptable.devices", "dptable.memory", "dptable.models", "dptable.prefetch"),
    *("dptable.reduce_scatter", "dptable.reducer", "dptable.replicate", "dptable.scatter_gather"),
    *("dptable.sharding", "dptable.training"),
]
OWN = ("compat.", "dptable.")


def load(name: str) -> object:
    if name in ("compat.hdf5", "compat.lua"):
        pytest.importorskip({"compat.hdf5": "h5py", "compat.lua": "lupa"}[name])
    return importlib.import_module(name)


@pytest.mark.parametrize("name", PUBLIC)
def test_names_in_all_exist_once(name: str) -> None:
    module = load(name)
    listed = module.__all__  # type: ignore[attr-defined]
    assert len(listed) == len(set(listed))
    for each in listed:
        if name == "compat":  # its packages are imported one by one
            assert f"compat.{each}" in PUBLIC
        else:
            assert hasattr(module, each), each


@pytest.mark.parametrize("name", PUBLIC)
def test_nothing_of_the_library_is_public_by_accident(name: str) -> None:
    module = load(name)
    offered = {
        each
        for each, value in vars(module).items()
        if not each.startswith("_")
        and (inspect.isclass(value) or inspect.isroutine(value))
        and str(getattr(value, "__module__", "")).startswith(OWN)
    }
    if name == "compat.nn":
        offered.discard("DataParallelTable")  # there once dptable has been imported
    # A module's helpers from elsewhere are imported; what it defines itself is meant.
    own = {each for each in offered if vars(module)[each].__module__ == name}
    assert own <= set(module.__all__)  # type: ignore[attr-defined]
    spec = module.__spec__
    assert spec is not None
    if spec.submodule_search_locations is not None:
        assert offered <= set(module.__all__)  # type: ignore[attr-defined]


def test_the_program_that_mypy_checks_runs() -> None:
    runpy.run_path(str(ROOT / "tests" / "typing" / "program.py"), run_name="__main__")
