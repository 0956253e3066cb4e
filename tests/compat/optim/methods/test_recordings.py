"""Every optimizer that takes gradients against its recordings, whole and interrupted."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from support.golden_data import load, load_cases
from support.optim_problems import problem_of

from compat import optim, t7

STEPPERS = ["sgd", "adam", "adamax", "adagrad", "adadelta", "rmsprop", "nag", "rprop", "asgd"]
MINIMIZERS = ["cg", "lbfgs"]

CASES = [
    pytest.param(name, case, id=f"{name}-{case['name']}")
    for name in STEPPERS + MINIMIZERS
    for case in load_cases("optim", name)
]


def function_of(name: str, case: dict[str, Any]) -> Any:
    """The recordings of lbfgs hold a run of cg for comparison."""
    return optim.cg if case["name"].startswith("cg_") else getattr(optim, name)


def tables_of(case: dict[str, Any]) -> tuple[dict, dict | None]:
    config = dict(case["config"] or {})
    if "lineSearch" in config:
        config["lineSearch"] = optim.lswolfe
    return config, dict(case.get("state0") or {}) if case["separateState"] else None


def assert_close(actual: Any, expected: Any, slack: float, where: str) -> None:
    """Equal up to 1e-9 of the largest element (1e-5 in float), or the sensitivity of the run."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if not key.endswith("_bufs_n") and value != "function:optim.lswolfe":
                assert key in actual, f"{where}.{key}"
                assert_close(actual[key], value, slack, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), where
        for i, value in enumerate(expected):
            assert_close(actual[i], value, slack, f"{where}[{i}]")
    elif isinstance(expected, torch.Tensor):
        assert actual.shape == expected.shape, where
        assert actual.dtype == expected.dtype, where
        precision = 1e-5 if expected.dtype == torch.float32 else 1e-9
        difference = (actual.double() - expected.double()).abs().max()
        assert difference <= precision * expected.double().abs().max() + slack, where
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, rel=1e-5 if slack > 1e-6 else 1e-9, abs=slack)
    else:
        assert actual == expected, where


@pytest.mark.parametrize(("name", "case"), CASES)
def test_follows_the_recording(name: str, case: dict[str, Any]) -> None:
    minimize, problem = function_of(name, case), problem_of(case)
    config, state = tables_of(case)
    points = []

    def opfunc(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        points.append(x.clone())
        return problem(x)

    x = case["x0"].clone()
    xs, histories, evals, averages = [], [], [], []
    for _ in range(case["nsteps"]):
        before = len(points)
        result = minimize(opfunc, x, config, state)
        assert result[0] is x
        xs.append(x.clone())
        histories.append(result[1])
        evals.append(len(points) - before)
        if "ax" in case:
            averages.append(result[2].clone())
        elif len(result) > 2:
            assert result[2] == evals[-1]

    spread = case["sensitivity"]
    if case["fragile"]:
        moved = spread.get("trace_max_abs_dx") or spread["max_abs_dx"]
        stable = next(i for i, m in enumerate(moved) if m > 1e-12)
        trace = points if case["mode"] == "single" else xs
        expected = case["trace"]["x"] if case["mode"] == "single" else case["xs"]
        assert_close(trace[:stable], expected[:stable], 1e-9, "stable beginning")
        assert histories[-1][-1] < histories[0][0]
        return
    for i, expected in enumerate(case["xs"]):
        assert_close(xs[i], expected, 1000 * spread["max_abs_dx"][i], f"x{i}")
    if "trace" in case and minimize is getattr(optim, name):
        slack = 1000 * max(spread["trace_max_abs_dx"], default=0)
        assert_close(points, case["trace"]["x"], slack, "trace")
    slack = 1e3 * max(spread["max_abs_dx"])
    losses = [loss for losses in (*histories, *case["fhist"]) for loss in losses]
    is_flat = max(losses) - min(losses) < 1e-11 * abs(losses[0])
    if is_flat and [*map(len, histories)] != [*map(len, case["fhist"])]:
        return  # it starts where nothing is to be gained: rounding decides how often it looks
    assert_close(histories, case["fhist"], slack, "losses")
    assert_close(averages, case.get("ax", []), slack, "averages")
    if minimize is getattr(optim, name):
        assert evals == case["evals"]
        assert_close(config if state is None else state, case["state"], slack, "state")
        assert_close(config, case["config_after"], slack, "config")
    unrecorded = {"dir_bufs", "stp_bufs", "tmp", "df3"}
    assert set(config if state is None else state) - unrecorded <= set(case["state"])


@pytest.mark.parametrize(("name", "case"), CASES)
def test_resumes_from_a_file_identically(name: str, case: dict[str, Any]) -> None:
    minimize, problem = function_of(name, case), problem_of(case)
    steps, middle = (case["nsteps"], case["nsteps"] // 2) if case["nsteps"] > 1 else (3, 1)

    def run(interrupted: bool) -> tuple[list[torch.Tensor], Any]:
        config, state = tables_of(case)
        x, xs = case["x0"].clone(), []
        for step in range(steps):
            if interrupted and step == middle:
                search = config.pop("lineSearch", None)
                x, config, state = t7.loads(t7.dumps([x, config, state or {}]))
                config = dict(config)
                if search is not None:
                    config["lineSearch"] = search
                if not case["separateState"]:
                    state = None
            minimize(problem, x, config, state)
            xs.append(x.clone())
        return xs, config if state is None else state

    straight, state = run(interrupted=False)
    resumed, loaded = run(interrupted=True)
    assert all(map(torch.equal, straight, resumed))
    assert state.keys() == loaded.keys()


@pytest.mark.parametrize("case", load("optim", "sgd")["errors"], ids=lambda case: case["name"])
def test_sgd_refuses_what_torch7_refuses(case: dict[str, Any]) -> None:
    x, state = case["x0"].clone(), {}
    with pytest.raises(ValueError, match="with nesterov, momentum > 0 and dampening = 0"):
        optim.sgd(problem_of(case), x, case["config"], state)
    assert torch.equal(x, case["x0"])
    assert state == {}


def test_nag_needs_momentum() -> None:
    x = torch.ones(2)
    with pytest.raises(ValueError, match=r"momentum is 0; for Nesterov's .* a positive"):
        optim.nag(lambda x: (0.0, x), x, {"momentum": 0})
    assert torch.equal(x, torch.ones(2))


@pytest.mark.parametrize("name", STEPPERS + MINIMIZERS)
def test_without_tables_uses_the_defaults(name: str) -> None:
    case = load_cases("optim", name)[0]
    x, y = case["x0"].clone(), case["x0"].clone()
    getattr(optim, name)(problem_of(case), x)
    getattr(optim, name)(problem_of(case), y, {}, {})
    assert torch.equal(x, y)


@pytest.mark.parametrize("name", STEPPERS + MINIMIZERS)
def test_none_is_an_option_not_given(name: str) -> None:
    case = load_cases("optim", name)[0]
    options = "learningRate learningRateDecay momentum dampening weightDecay maxIter beta1 t0"
    x, y = case["x0"].clone(), case["x0"].clone()
    getattr(optim, name)(problem_of(case), x, dict.fromkeys(options.split()), {})
    getattr(optim, name)(problem_of(case), y, {}, {})
    assert torch.equal(x, y)


def test_lbfgs_takes_any_line_search() -> None:
    case = load_cases("optim", "lbfgs")[0]
    calls = []

    def search(opfunc, x, t, d, f, g, gtd, options):  # type: ignore[no-untyped-def]
        calls.append(copy.copy(options))
        moved = x + t * d
        return *opfunc(moved), moved, t, 1

    x = case["x0"].clone()
    config = {"lineSearch": search, "lineSearchOptions": {"mine": 1}, "maxIter": 5}
    _, losses, evals = optim.lbfgs(problem_of(case), x, config)
    assert calls[0] == {"mine": 1}
    assert evals == len(losses) == 6
    assert problem_of(case)(x)[0] == pytest.approx(losses[-1])


def test_a_line_search_is_a_function() -> None:
    x, state = torch.ones(2), {}
    with pytest.raises(TypeError, match=r"config\['lineSearch'\] is 'lswolfe'; a function such as"):
        optim.lbfgs(lambda x: (0.0, x), x, {"lineSearch": "lswolfe"}, state)
    assert state == {}


@pytest.mark.parametrize("name", MINIMIZERS)
@pytest.mark.parametrize("search", [None, optim.lswolfe])
def test_nan_does_not_go_on_for_ever(name: str, search: Any) -> None:
    x = torch.ones(3)
    config = {"maxIter": 10, "lineSearch": search}
    _, losses, _ = getattr(optim, name)(lambda x: (float("nan"), x * float("nan")), x, config)
    assert losses[0] != losses[0]


@pytest.mark.parametrize("name", STEPPERS + MINIMIZERS)
def test_losses_with_a_graph_let_it_go(name: str) -> None:
    def opfunc(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x.detach().requires_grad_()
        loss = (x**4).sum()
        return loss, torch.autograd.grad(loss, x)[0]

    losses = getattr(optim, name)(opfunc, torch.ones(3))[1]
    assert not any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in losses)
