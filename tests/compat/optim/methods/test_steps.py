"""What the steps do to memory, types and the caller's tensors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import optim, t7
from compat import torch as torch7
from compat.optim.support import vectors
from compat.optim.support.recomputed import Recomputed
from compat.tensor_types import tag

STEPPERS = ["sgd", "adam", "adamax", "adagrad", "adadelta", "rmsprop", "nag", "rprop", "asgd"]
CONFIG = {
    "learningRate": 0.01,
    "momentum": 0.9,
    "weightDecay": 1e-3,
    "eta0": 0.01,
    "stepsize": 0.01,
}


def bowl(x: torch.Tensor) -> tuple[float, torch.Tensor]:
    return float((x.double() ** 2).sum()), 2 * x


def steps(name: str, x: torch.Tensor, config: dict | None = None, count: int = 5) -> dict:
    state: dict[str, Any] = {}
    for _ in range(count):
        getattr(optim, name)(bowl, x, dict(CONFIG if config is None else config), state)
    return state


def tensors(state: dict) -> dict[str, torch.Tensor]:
    return {key: value for key, value in state.items() if isinstance(value, torch.Tensor)}


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_floating_type_goes_down(name: str, dtype: torch.dtype) -> None:
    x = torch.linspace(-2, 2, 1000).to(dtype)
    before = bowl(x)[0]
    state = steps(name, x, count=20)
    assert x.dtype == dtype and x.isfinite().all()
    assert bowl(x)[0] < before
    for key, value in tensors(state).items():
        assert value.dtype == (torch.uint8 if value.dtype == torch.uint8 else dtype), key


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_gradient_of_zero_moves_nothing(name: str, dtype: torch.dtype) -> None:
    x = torch.ones(5, dtype=dtype)
    getattr(optim, name)(lambda x: (0.0, torch.zeros_like(x)), x, {"lambda": 0})
    assert torch.equal(x, torch.ones_like(x))


@pytest.mark.cuda
@pytest.mark.parametrize("name", [*STEPPERS, "lbfgs", "cg"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_gpu_agrees_with_the_cpu(name: str, dtype: torch.dtype) -> None:
    if name in ("lbfgs", "cg") and dtype.itemsize == 2:
        pytest.skip("line searches need more than 16 bits")
    x = torch.linspace(-2, 2, 1000).to(dtype)
    y = x.cuda()
    on_cpu, on_gpu = steps(name, x), steps(name, y)
    rtol = {2: 2e-2, 4: 1e-5, 8: 1e-12}[dtype.itemsize]
    torch.testing.assert_close(y.cpu(), x, rtol=rtol, atol=rtol)
    assert on_cpu.keys() == on_gpu.keys()
    assert all(value.is_cuda for key, value in tensors(on_gpu).items() if key not in ("ro", "al"))


@pytest.mark.cuda
@pytest.mark.parametrize("name", STEPPERS)
def test_a_state_from_the_cpu_continues_on_the_gpu(name: str) -> None:
    x = torch.linspace(-2, 2, 100)
    state = steps(name, x)
    y, moved = x.cuda(), t7.loads(t7.dumps(state))
    getattr(optim, name)(bowl, x, dict(CONFIG), state)
    getattr(optim, name)(bowl, y, dict(CONFIG), moved)
    torch.testing.assert_close(y.cpu(), x)


@pytest.mark.parametrize("name", STEPPERS)
def test_pieces_make_no_difference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = torch.linspace(-2, 2, 1001, dtype=torch.float64)
    cut = whole.clone()
    state = steps(name, whole)
    monkeypatch.setattr(vectors, "PIECE", 100)
    pieces = steps(name, cut)
    torch.testing.assert_close(cut, whole, rtol=1e-14, atol=1e-14)
    for key, value in tensors(state).items():
        torch.testing.assert_close(pieces[key], value, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", STEPPERS)
def test_buffers_stay_where_they_are(name: str) -> None:
    x = torch.linspace(-2, 2, 100)
    state = steps(name, x, count=1)

    def places() -> dict[str, int | None]:
        return {key: place(value) for key, value in tensors(state).items()}

    def place(value: torch.Tensor) -> int | None:
        kept = value.room if isinstance(value, Recomputed) else value
        return None if kept is None else kept.data_ptr()

    before, start = places(), x.data_ptr()
    for _ in range(3):
        getattr(optim, name)(bowl, x, dict(CONFIG), state)
    assert places() == before
    assert x.data_ptr() == start


@pytest.mark.parametrize("name", STEPPERS)
def test_later_steps_allocate_no_vector(name: str) -> None:
    x, gradient = torch.linspace(-2, 2, 10_000), torch.ones(10_000)
    state: dict[str, Any] = {}

    def step() -> None:
        getattr(optim, name)(lambda x: (0.0, gradient), x, dict(CONFIG), state)

    step()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        step()
    assert max(event.self_cpu_memory_usage for event in profile.events()) < 100


@pytest.mark.parametrize("name", STEPPERS)
def test_a_step_counts_as_a_change_and_is_not_recorded(name: str) -> None:
    x = torch.linspace(-2, 2, 100, requires_grad=True)
    version = x._version
    steps(name, x.detach())
    assert x._version > version
    assert x.grad_fn is None and x.grad is None


@pytest.mark.parametrize("name", ["sgd", "adam", "adamax", "adagrad", "adadelta", "rmsprop", "nag"])
def test_weight_decay_is_added_into_the_gradient(name: str) -> None:
    x, gradient = torch.ones(5), torch.full((5,), 3.0)
    getattr(optim, name)(lambda x: (0.0, gradient), x, {"weightDecay": 0.5}, {})
    assert torch.equal(gradient, torch.full((5,), 3.5))


def test_nesterov_momentum_is_added_into_the_gradient() -> None:
    config = {"nesterov": True, "momentum": 0.5, "dampening": 0, "learningRate": 0}
    state: dict[str, Any] = {}
    for velocity in (3, 4.5):
        gradient = torch.full((5,), 3.0)
        optim.sgd(lambda x, g=gradient: (0.0, g), torch.ones(5), config, state)
        assert torch.equal(gradient, torch.full((5,), 3 + 0.5 * velocity))


@given(
    momentum=st.sampled_from([0, 0.9]),
    nesterov=st.booleans(),
    decay=st.sampled_from([0, 0.1]),
    decays=st.booleans(),
    rates=st.booleans(),
)
def test_kept_gradients_make_no_other_difference(
    momentum: float, nesterov: bool, decay: float, decays: bool, rates: bool
) -> None:
    config: dict[str, Any] = {"learningRate": 0.1, "momentum": momentum, "weightDecay": decay}
    config |= {"nesterov": nesterov and momentum > 0, "dampening": 0}
    config |= {"weightDecays": torch.linspace(0, 1, 20, dtype=torch.float64)} if decays else {}
    config |= {"learningRates": torch.linspace(1, 2, 20, dtype=torch.float64)} if rates else {}
    points = []
    for keep in (False, True):
        x, state = torch.linspace(-2, 2, 20, dtype=torch.float64), {}
        for _ in range(3):
            gradient = 2 * x
            handed = gradient.clone()
            optim.sgd(lambda x, g=handed: (0.0, g), x, {**config, "keepGradient": keep}, state)
            if keep:
                assert torch.equal(handed, gradient)
        points.append(x)
    torch.testing.assert_close(*points, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ({}, {}),
        ({"weightDecay": 0.1}, {"weight_decay": 0.1}),
        ({"momentum": 0.9, "dampening": 0.2}, {"momentum": 0.9, "dampening": 0.2}),
        (
            {"momentum": 0.9, "dampening": 0, "nesterov": True, "weightDecay": 0.1},
            {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        ),
    ],
)
def test_sgd_is_pytorchs_sgd(config: dict, options: dict) -> None:
    x = torch.linspace(-2, 2, 50)
    parameter = x.clone().requires_grad_()
    steps("sgd", x, {"learningRate": 0.1, **config})
    theirs = torch.optim.SGD([parameter], lr=0.1, **options)
    for _ in range(5):
        parameter.grad = 2 * parameter.detach()
        theirs.step()
    torch.testing.assert_close(x, parameter.detach())


@pytest.mark.parametrize(
    ("name", "key", "formula"),
    [
        ("adam", "denom", lambda s: s["v"].sqrt() + 1e-8),
        ("rmsprop", "tmp", lambda s: s["m"].sqrt() + 1e-8),
        ("adagrad", "paramStd", lambda s: s["paramVariance"].sqrt() + 1e-10),
    ],
)
def test_recomputed_vectors_pass_for_tensors(name: str, key: str, formula: Any) -> None:
    state = steps(name, torch.linspace(-2, 2, 10, dtype=torch.float64))
    vector, expected = state[key], formula(state)
    torch.testing.assert_close(vector, expected)
    assert isinstance(vector, torch.Tensor)
    assert vector.shape == (10,) and vector.dtype == torch.float64
    assert vector.tolist() == expected.tolist()
    assert (vector.numpy() == expected.numpy()).all()
    assert torch.equal(torch.stack([vector, vector])[1], expected)
    assert repr(vector) == repr(expected)
    for copied in (
        copy.deepcopy(state)[key],
        pickle.loads(pickle.dumps(state))[key],
        t7.loads(t7.dumps(state))[key],
    ):
        assert type(copied) is torch.Tensor
        assert torch.equal(copied, expected)


def test_a_state_of_another_type_is_converted() -> None:
    x, y = torch.linspace(-2, 2, 10), torch.linspace(-2, 2, 10).double()
    state = steps("adam", x)
    optim.adam(bowl, y, {}, state)
    assert state["m"].dtype == state["v"].dtype == torch.float64


def classes(value: Any) -> set[str]:
    """The classes of the float tensors in a state."""
    if isinstance(value, (dict, list)):
        return set().union(*map(classes, value.values() if isinstance(value, dict) else value))
    is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return {torch7.typename(value)} if is_float else set()


@pytest.mark.parametrize("name", [*STEPPERS, "cg", "lbfgs"])
def test_a_state_from_a_gpu_stays_one_in_files(name: str) -> None:
    x = torch.linspace(-2, 2, 100)
    tag(x, "torch.CudaTensor")
    vectors = {key: torch.ones(100) for key in ("learningRates", "weightDecays")}
    config, state = {**CONFIG, "weightDecay": 0, "maxIter": 3, **vectors}, {}
    for _ in range(2):
        getattr(optim, name)(bowl, x, config, state)
    loaded = t7.loads(t7.dumps(state))
    y = x.clone()
    getattr(optim, name)(bowl, x, config, state)
    getattr(optim, name)(bowl, y, config, loaded)
    assert torch.equal(x, y)
    for resumed in (state, loaded):
        assert classes(t7.loads(t7.dumps(resumed))) == {"torch.CudaTensor"}


def bad_gradient(gradient: Any) -> Any:
    return lambda x: (0.0, gradient)


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize(
    ("opfunc", "error", "message"),
    [
        (
            lambda x: 0.0,
            TypeError,
            "opfunc returned .*; the loss and the gradient",
        ),
        (
            bad_gradient(None),
            TypeError,
            "opfunc returned .*; the loss and the gradient",
        ),
        (bad_gradient(torch.zeros(3)), ValueError, "gradient of 3 torch.float32"),
        (
            bad_gradient(torch.zeros(4).double()),
            ValueError,
            "one of 4 torch.float32 on cpu, as x is, is",
        ),
    ],
)
def test_a_wrong_gradient_changes_nothing(
    name: str, opfunc: Any, error: type[Exception], message: str
) -> None:
    x, state = torch.ones(4), {}
    with pytest.raises(error, match=message):
        getattr(optim, name)(opfunc, x, {}, state)
    assert torch.equal(x, torch.ones(4))
    assert state == {}


@pytest.mark.parametrize("name", [*STEPPERS, "cg", "lbfgs", "checkgrad", "cmaes", "de"])
@pytest.mark.parametrize("opfunc", [lambda: (0.0, torch.ones(4)), lambda x, y: (0.0, x), None])
def test_an_opfunc_takes_x(name: str, opfunc: Any) -> None:
    config = {"sigma": 1, "maxFEs": 40, "scaleFactor": 0.5, "crossoverRate": 0.5}
    arguments = [] if name == "checkgrad" else [config]
    x = torch.ones(4)
    with pytest.raises(TypeError, match=r"opfunc does not take x alone .*; a function of"):
        getattr(optim, name)(opfunc, x, *arguments)
    assert torch.equal(x, torch.ones(4))


def test_a_type_error_of_the_opfunc_is_its_own() -> None:
    with pytest.raises(TypeError, match=r"^unsupported operand"):
        optim.sgd(lambda x: x + "", torch.ones(4))


@pytest.mark.parametrize("name", [*STEPPERS, "cg", "lbfgs", "cmaes", "de"])
@pytest.mark.parametrize("table", [0.1, [0.1], "learningRate"])
def test_the_tables_are_dicts(name: str, table: Any) -> None:
    with pytest.raises(TypeError, match=r"config is .*; a dict"):
        getattr(optim, name)(bowl, torch.ones(4), table)
    if name != "de":  # it has no state
        with pytest.raises(TypeError, match=r"state is .*; a dict"):
            getattr(optim, name)(bowl, torch.ones(4), {}, table)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *((name, "weightDecay") for name in STEPPERS if name not in ("rprop", "asgd")),
        *(("sgd", key) for key in ("learningRate", "learningRateDecay", "momentum", "dampening")),
        *(("adam", "beta1"), ("rprop", "etaplus"), ("asgd", "lambda"), ("cg", "maxIter")),
        *(("lbfgs", "tolX"), ("cmaes", "sigma")),
    ],
)
def test_options_are_numbers(name: str, key: str) -> None:
    x, state = torch.ones(4), {}
    with pytest.raises(TypeError, match=f"{key} is '0.1'; a number"):
        getattr(optim, name)(bowl, x, {key: "0.1"}, state)
    assert torch.equal(x, torch.ones(4))
    assert state == {}


def test_vectors_are_tensors() -> None:
    with pytest.raises(TypeError, match=r"config\['learningRates'\] is a list; a tensor"):
        optim.sgd(bowl, torch.ones(2), {"learningRates": [1, 2]})
    with pytest.raises(TypeError, match=r"state\['stepsize'\] is a float; a tensor"):
        optim.rprop(bowl, torch.ones(2), {}, {"stepsize": 0.1, "delta": torch.ones(2)})


@pytest.mark.parametrize("name", STEPPERS)
def test_wrong_parameters_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match="x is a list; a tensor"):
        getattr(optim, name)(bowl, [1.0], {}, {})
    with pytest.raises(TypeError, match=r"x is torch\.int64; a floating"):
        getattr(optim, name)(bowl, torch.ones(2, dtype=torch.int64), {}, {})
    with pytest.raises(ValueError, match=r"x has strides .*; a contiguous one"):
        getattr(optim, name)(bowl, torch.ones(4, 2).t(), {}, {})


def test_a_state_of_another_net_is_refused() -> None:
    x, state = torch.ones(4), steps("adam", torch.ones(5))
    with pytest.raises(ValueError, match=r"state\['m'\] has 5 elements; 4 are accepted"):
        optim.adam(bowl, x, {}, state)


def test_nag_takes_its_look_ahead_back_where_the_gradient_fails() -> None:
    x, state = torch.ones(4), {}
    optim.nag(bowl, x, {"learningRate": 0.1}, state)
    before = x.clone()
    with pytest.raises(TypeError, match=r"opfunc returned .*; the loss and the gradient"):
        optim.nag(lambda x: 0.0, x, {"learningRate": 0.1}, state)
    torch.testing.assert_close(x, before)


@pytest.mark.parametrize(
    ("name", "key"),
    [("sgd", "learningRates"), ("sgd", "weightDecays"), ("nag", "learningRates")],
)
def test_a_vector_of_another_net_is_refused(name: str, key: str) -> None:
    x, state = torch.ones(4), {}
    with pytest.raises(
        ValueError, match=rf"config\['{key}'\] has 3 elements; one for each of the 4 of x"
    ):
        getattr(optim, name)(bowl, x, {key: torch.ones(3), "momentum": 0.9}, state)
    assert torch.equal(x, torch.ones(4))
    assert state == {}


def test_a_gradient_with_gaps_is_taken() -> None:
    x = torch.ones(3)
    optim.sgd(lambda x: (0.0, torch.ones(1).expand(3)), x, {"learningRate": 0.5, "weightDecay": 1})
    assert torch.equal(x, torch.zeros(3))
