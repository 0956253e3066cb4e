"""Random numbers against Torch7's own (golden/rng), and against Python's math where those end."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support import golden_data

import compat.random as rng
from compat.random import libm
from compat.random.fill import CHUNK
from compat.tensor_types import CPU_TYPES


def load(name: str) -> dict[str, Any]:
    return golden_data.load("rng", name)


def arguments(case: dict[str, Any]) -> list[Any]:
    return list(case["args"] or [])


def assert_same_bits(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert actual.numpy().tobytes() == expected.numpy().tobytes(), (actual, expected)


def assert_continues(after: dict[str, float]) -> None:
    """The draws so far took the right number of words and left the right cached normal."""
    assert rng.random() == after["random"]
    assert rng.normal() == after["normal"]
    assert rng.uniform() == after["uniform"]


def fill(case: dict[str, Any], tensor: torch.Tensor) -> torch.Tensor:
    name = {"rand": "uniform", "randn": "normal"}.get(case["fn"], case["fn"])
    return getattr(rng, name + "_")(tensor, *arguments(case))


@pytest.fixture(autouse=True)
def restored_state():
    state = rng.getRNGState()
    yield
    rng.setRNGState(state)


@pytest.mark.parametrize("index", range(8))
def test_scalar_streams(index):
    case = load("core")["cases"][index]
    rng.manualSeed(case["seed"])
    assert rng.initialSeed() == case["initialSeed"]
    words = [rng.random() for _ in range(1300)]
    assert words[:50] == case["random50"]
    at = case["random_1_to_1300_at"]
    assert [words[i - 1] for i in at["idx"]] == at["value"]
    assert sum(words) == case["random_sum_1300"]

    for stream in case["streams"]:
        rng.manualSeed(case["seed"])
        draw = getattr(rng, stream["fn"])
        assert [draw(*arguments(stream)) for _ in stream["values"]] == stream["values"], stream
        assert_continues(stream["after"])

    rng.manualSeed(case["seed"])
    for step in case["mixed"]:
        assert getattr(rng, step["fn"])(*arguments(step)) == step["value"], step

    rng.normal()
    rng.manualSeed(case["seed"])
    expected = case["normal_after_reseed"]
    assert [rng.normal() for _ in expected] == expected


def test_scalar_errors_leave_the_state():
    before = rng.getRNGState()
    for error in load("core")["errors"]:
        with pytest.raises((ValueError, TypeError)):
            getattr(rng, error["fn"])(*arguments(error))
    assert torch.equal(rng.getRNGState(), before)


@pytest.mark.parametrize("index", range(2))
def test_generators_are_independent(index):
    case = load("generators")["cases"][index]
    generators = [None, rng.Generator(case["seed_g1"]), rng.Generator(case["seed_g2"])]
    rng.manualSeed(case["seed_default"])
    for op in case["ops"]:
        how = {"dtype": torch.float64} if op["fn"] in ("rand", "randn", "randperm") else {}
        draw = getattr(rng, op["fn"])
        value = draw(*arguments(op), **how, generator=generators[op["gen"]])
        if isinstance(value, torch.Tensor):
            assert_same_bits(value, op["value"])
        else:
            assert value == op["value"], op
    first, second = generators[1:]
    assert first is not None and second is not None
    seeds = [first.initialSeed(), second.initialSeed(), rng.initialSeed()]
    assert seeds == case["initialSeeds"]

    uniforms = rng.uniform_(torch.empty(5, dtype=torch.float64), -1, 1, generator=first)
    assert_same_bits(uniforms, case["tensor_uniform_g1"])
    normals = rng.normal_(torch.empty(5), 1, 2, generator=second)
    assert_same_bits(normals, case["float_normal_g2"])
    drawn = rng.multinomial(torch.tensor([0.1, 0.2, 0.3, 0.4]), 6, True, generator=first)
    assert_same_bits(drawn, case["multinomial_g1"])
    assert_same_bits(first.getRNGState(), case["state_g1"])


def fill_cases() -> list[dict[str, Any]]:
    return load("fills")["cases"]


def test_fills():
    for case in fill_cases():
        rng.manualSeed(case["seed"])
        if "before" in case:
            rng.normal()
        actual = fill(case, torch.empty(*case["size"], dtype=CPU_TYPES[case["type"]]))
        expected = case["value"]
        if "quirk" in case:
            # Where Torch7 gave 2**64 - k, the port gives -k, as it does for int64.
            rng.manualSeed(case["seed"])
            longs = rng.random_(torch.empty(*case["size"], dtype=torch.int64), *case["args"])
            expected = longs.to(expected.dtype)
            assert torch.equal(expected[expected >= 0], case["value"][case["value"] < 1e19])
        assert_same_bits(actual, expected)
        assert_continues(case["after"])


def test_rand_and_randn_are_fills():
    for case in fill_cases():
        if case["fn"] in ("rand", "randn") and "before" not in case:
            rng.manualSeed(case["seed"])
            actual = getattr(rng, case["fn"])(*case["size"], dtype=CPU_TYPES[case["type"]])
            assert_same_bits(actual, case["value"])


def test_fills_of_views_go_by_index():
    for case in load("noncontiguous")["cases"]:
        base = torch.zeros(6, 6, dtype=CPU_TYPES[case["type"]])
        view = base.as_strided(case["size"], case["stride"], case["offset"] - 1)
        rng.manualSeed(case["seed"])
        assert fill(case, view) is view
        assert_same_bits(view.contiguous(), case["value"].contiguous())
        if "base_after" in case:
            assert_same_bits(base, case["base_after"])
        assert_continues(case["after"])


@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    strides=st.lists(st.integers(0, 6), min_size=3, max_size=3),
    offset=st.integers(0, 3),
)
def test_fill_of_any_view_is_a_loop_over_its_indices(shape, strides, offset):
    strides = strides[: len(shape)]
    base, looped = torch.zeros(80), torch.zeros(80)
    view = base.as_strided(shape, strides, offset)
    rng.uniform_(view, generator=rng.Generator(5))
    generator = rng.Generator(5)
    for index in np.ndindex(*shape):
        element = offset + sum(i * stride for i, stride in zip(index, strides, strict=True))
        looped[element] = rng.uniform(generator=generator)
    assert_same_bits(base, looped)


def test_randperm():
    for case in load("perm_multinomial")["randperm"]:
        rng.manualSeed(case["seed"])
        assert_same_bits(rng.randperm(case["n"], case["type"]), case["value"])
        assert_continues(case["after"])


def test_multinomial():
    for case in load("perm_multinomial")["multinomial"]:
        rng.manualSeed(case["seed"])
        actual = rng.multinomial(case["probs"], case["n"], case["replacement"])
        assert_same_bits(actual, case["value"].contiguous())
        assert_continues(case["after"])


def test_multinomial_errors_leave_the_state():
    before = rng.getRNGState()
    for error in load("perm_multinomial")["errors"]:
        with pytest.raises(ValueError):
            rng.multinomial(error["probs"], error["n"], error["replacement"])
    assert torch.equal(rng.getRNGState(), before)


def test_multinomial_alias():
    for case in load("perm_multinomial")["alias"]:
        J, q = state = rng.multinomialAliasSetup(case["probs"])
        assert_same_bits(J, case["J"])
        assert_same_bits(q, case["q"])
        for _ in range(2):
            rng.manualSeed(case["seed"])
            actual = rng.multinomialAlias(torch.empty_like(case["value"]), state)
            assert_same_bits(actual, case["value"])
            assert_continues(case["after"])


@pytest.mark.parametrize("index", range(8))
def test_state(index):
    case = load("state")["cases"][index]
    rng.manualSeed(case["seed"])
    for name, times in case["draws"] or []:
        for _ in range(times):
            getattr(rng, name)()
    assert_same_bits(rng.getRNGState(), case["rng_state"])
    after = case["after"]
    restored = rng.Generator.from_bytes(case["rng_state"].numpy().tobytes())
    copies = [restored, copy.deepcopy(restored), pickle.loads(pickle.dumps(restored))]
    for generator in copies:
        assert_same_bits(generator.getRNGState(), case["rng_state"])
        assert generator.initialSeed() == after["initialSeed"]
    for generator in [*copies, None]:
        rng.setRNGState(case["rng_state"], generator=generator)
        assert [rng.random(generator=generator) for _ in after["random5"]] == after["random5"]
        assert [rng.normal(generator=generator) for _ in after["normal5"]] == after["normal5"]
        expected = after["randn3"]
        assert_same_bits(rng.randn(3, dtype=expected.dtype, generator=generator), expected)


def invalid_states() -> dict[str, bytes]:
    valid = rng.Generator(1).to_bytes()
    layout = load("state")["layout"]

    def with_field(name: str, value: int, size: int = 4) -> bytes:
        start = layout[name]
        return valid[:start] + value.to_bytes(size, "little") + valid[start + size :]

    return {
        "short": valid[:-1],
        "zeros": bytes(len(valid)),
        "left_zero": with_field("left", 0),
        "left_too_big": with_field("left", 625),
        "next_too_big": with_field("next", 625, 8),
        "not_seeded": with_field("seeded", 0),
        "left_and_next_disagree": with_field("left", 624),
        "word_too_big": with_field("state", 2**32, 8),
    }


@pytest.mark.parametrize("name", invalid_states())
def test_invalid_states_change_nothing(name):
    before = rng.getRNGState()
    with pytest.raises(ValueError, match="state"):
        rng.setRNGState(invalid_states()[name])
    assert torch.equal(rng.getRNGState(), before)


def test_invalid_states_include_the_recorded_ones():
    assert {error["name"] for error in load("state")["errors"]} <= {"ok", *invalid_states()}


def test_seeding():
    rng.manualSeed(42 + 2**32)
    high = rng.random(), rng.initialSeed()
    rng.manualSeed(42.9)
    assert (rng.random(), 42 + 2**32) == high
    number = rng.seed()
    assert rng.initialSeed() == number
    state = rng.getRNGState()
    rng.manualSeed(number)
    assert torch.equal(rng.getRNGState(), state)
    assert rng.Generator().initialSeed() != rng.Generator().initialSeed()


@pytest.mark.parametrize("bad", [math.nan, math.inf, "one", None])
def test_a_seed_is_a_number(bad):
    with pytest.raises(ValueError, match=r"seed is .*; a finite number"):
        rng.manualSeed(bad)


class ByHand:
    """One number at a time with Python's math, from the words of a seed."""

    def __init__(self, seed: int) -> None:
        words = rng.Generator(seed).words(4 * LARGE)
        self.u = (word / 2**32 for word in words.tolist())
        self.second: float | None = None

    def uniform(self, a: float, b: float) -> float:
        return next(self.u) * (b - a) + a

    def normal(self, mean: float, stdv: float) -> float:
        if self.second is None:
            angle = 2 * math.pi * next(self.u)
            rho = math.sqrt(-2 * math.log(1 - next(self.u)))
            z, self.second = rho * math.cos(angle), rho * math.sin(angle)
        else:
            z, self.second = self.second, None
        return z * stdv + mean

    def logNormal(self, mean: float, stdv: float) -> float:
        return math.exp(self.normal(mean, stdv))

    def exponential(self, rate: float) -> float:
        return -1 / rate * math.log(1 - next(self.u))

    def cauchy(self, median: float, sigma: float) -> float:
        return median + sigma * math.tan(math.pi * (next(self.u) - 0.5))

    def geometric(self, p: float) -> int:
        return int(math.log(1 - next(self.u)) / math.log(p)) + 1

    def bernoulli(self, p: float) -> int:
        return int(next(self.u) <= p)


LARGE = CHUNK + 1001
PARAMETERS = {
    "uniform": (-0.25, 3.0),
    "normal": (0.5, 2.0),
    "logNormal": (0.5, 1.5),
    "exponential": (0.75,),
    "cauchy": (-1.5, 2.0),
    "geometric": (0.375,),
    "bernoulli": (0.625,),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_large_fill_is_computed_with_the_c_library(name):
    """Across chunks of the fill and blocks of the twister, starting from a cached normal."""
    generator, by_hand = rng.Generator(8), ByHand(8)
    assert rng.normal(generator=generator) == by_hand.normal(0, 1)
    draw = getattr(by_hand, name)
    expected = torch.tensor([draw(*PARAMETERS[name]) for _ in range(LARGE)], dtype=torch.float64)
    actual = torch.empty(LARGE, dtype=torch.float64)
    getattr(rng, name + "_")(actual, *PARAMETERS[name], generator=generator)
    assert_same_bits(actual, expected)
    assert rng.normal(generator=generator) == by_hand.normal(0, 1)


@pytest.mark.parametrize("exact", [True, False])
def test_libm_gives_what_math_gives(monkeypatch, exact):
    """Both with the vectorised kernels and, where a build has none that are exact, without."""
    if not exact:
        monkeypatch.setattr(libm, "_torch_log_is_exact", lambda: False)
        monkeypatch.setattr(libm, "_torch_polar_is_exact", lambda: False)
    u = rng.Generator(3).uniforms(200_000)
    y, angle = 1.0 - u, 2.0 * math.pi * u
    assert libm.log(y).tolist() == [math.log(v) for v in y.tolist()]
    pairs = libm.polar(y, angle)
    assert pairs.real.tolist() == [r * math.cos(a) for r, a in zip(y, angle, strict=True)]
    assert pairs.imag.tolist() == [r * math.sin(a) for r, a in zip(y, angle, strict=True)]


def test_exp_overflows_to_infinity():
    assert rng.logNormal(1e4, 1) == math.inf


@given(sizes=st.lists(st.integers(0, 7), max_size=6))
def test_fills_join_seamlessly(sizes):
    whole, parts = rng.Generator(4), rng.Generator(4)
    expected = rng.randn(sum(sizes), generator=whole)
    pieces = [rng.randn(size, generator=parts) for size in sizes]
    assert_same_bits(torch.cat([torch.empty(0), *pieces]), expected)
    assert whole.to_bytes() == parts.to_bytes()


def test_bernoulli_of_probabilities_goes_by_index():
    p = torch.rand(5, 4, generator=torch.Generator().manual_seed(1)).t()
    actual = rng.bernoulli_(torch.empty(4, 5, dtype=torch.uint8), p, generator=rng.Generator(2))
    one_by_one = rng.Generator(2)
    expected = [[rng.bernoulli(v, generator=one_by_one) for v in row] for row in p.tolist()]
    assert actual.tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_floats_are_rounded_from_float32(dtype):
    actual = rng.normal_(torch.empty(100, dtype=dtype), 0.1, 2, generator=rng.Generator(2))
    expected = rng.normal_(torch.empty(100), 0.1, 2, generator=rng.Generator(2))
    assert torch.equal(actual, expected.to(dtype))


@pytest.mark.parametrize(
    ("dtype", "span"),
    [
        (torch.bool, 2),
        (torch.uint8, 2**8),
        (torch.int8, 2**7),
        (torch.float16, 2**11 + 1),
        (torch.bfloat16, 2**8 + 1),
    ],
)
def test_random_fill_without_bounds_holds_every_number(dtype, span):
    words = rng.Generator(6).words(50)
    actual = rng.random_(torch.empty(50, dtype=dtype), generator=rng.Generator(6))
    assert actual.tolist() == (words % span).tolist()


def test_parameters_of_a_net_can_be_filled():
    weight = torch.nn.Parameter(torch.zeros(3, 4))
    version = weight._version
    assert rng.uniform_(weight, 1, 2) is weight
    assert weight.requires_grad and weight.grad_fn is None and (weight >= 1).all()
    assert weight._version > version


def test_threads_share_a_generator_without_losing_words():
    generator = rng.Generator(9)
    drawn: list[list[float]] = []

    def work() -> None:
        for size in (1, 30, 700):
            drawn.append(rng.rand(size, dtype=torch.float64, generator=generator).tolist())
            drawn.append([rng.uniform(generator=generator)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fresh = rng.Generator(9)
    total = sum(map(len, drawn))
    expected = rng.rand(total, dtype=torch.float64, generator=fresh).tolist()
    assert sorted(value for part in drawn for value in part) == sorted(expected)
    # Each draw is one run of the sequence.
    place = {value: i for i, value in enumerate(expected)}
    assert all([place[v] - place[part[0]] for v in part] == [*range(len(part))] for part in drawn)
    assert generator.to_bytes() == fresh.to_bytes()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda g: rng.uniform_(torch.ones(2).int(), generator=g),
            TypeError,
            "tensor is torch.int32; .*torch.float32",
        ),
        (lambda g: rng.random_(torch.ones(2).cfloat(), generator=g), TypeError, "complex64"),
        (lambda g: rng.bernoulli_([0.5], generator=g), TypeError, "tensor is a list; a tensor"),
        (
            lambda g: rng.normal_(torch.ones(2), 0, 0, generator=g),
            ValueError,
            "stdv is 0.0; a positive",
        ),
        (lambda g: rng.random_(torch.ones(2), 0, generator=g), ValueError, "b is 0; at least a, 1"),
        (
            lambda g: rng.random_(torch.ones(2), 1, math.nan, generator=g),
            ValueError,
            "b is nan; a finite",
        ),
        (
            lambda g: rng.exponential_(torch.ones(2), 0, generator=g),
            ValueError,
            "lambda is 0; another",
        ),
        (lambda g: rng.geometric_(torch.ones(2), 1, generator=g), ValueError, "p is 1; 0 < p < 1"),
        (
            lambda g: rng.bernoulli_(torch.ones(2), -1, generator=g),
            ValueError,
            "p is -1; 0 <= p <= 1",
        ),
        (
            lambda g: rng.bernoulli_(torch.ones(2), torch.tensor([0.5, 1.5]), generator=g),
            ValueError,
            "p is 1.5; 0 <= p <= 1",
        ),
        (
            lambda g: rng.bernoulli_(torch.ones(2), torch.ones(3), generator=g),
            ValueError,
            "p has 3 elements; as many as",
        ),
        (
            lambda g: rng.bernoulli_(torch.ones(2), torch.ones(2).int(), generator=g),
            TypeError,
            "p is torch.int32; a number or",
        ),
        (
            lambda g: rng.multinomial(torch.ones(2).int(), 1, generator=g),
            TypeError,
            "p is torch.int32; a floating",
        ),
        (
            lambda g: rng.multinomial(torch.ones(1, 2, 3), 1, generator=g),
            ValueError,
            "p has size .1, 2, 3.; a vector",
        ),
        (
            lambda g: rng.multinomialAlias(torch.ones(2), (), generator=g),
            TypeError,
            "out is torch.float32; an int64",
        ),
        (
            lambda g: rng.randperm(3, "torch.FooTensor", generator=g),
            ValueError,
            "dtype is 'torch.FooTensor'; torch.FloatTensor, ",
        ),
        (lambda g: rng.manualSeed(1, generator=torch.Generator()), TypeError, "torch._C.Generator"),
        (
            lambda g: rng.setRNGState(torch.zeros(5048), generator=g),
            TypeError,
            "state is torch.float32; a uint8",
        ),
    ],
)
def test_bad_arguments_are_named_before_anything_changes(call, error, message):
    generator = rng.Generator(1)
    before = generator.to_bytes()
    with pytest.raises(error, match=message):
        call(generator)
    assert generator.to_bytes() == before


def test_alias_tables_of_impossible_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"p gives the alias table the entry 0.0; "):
        rng.multinomialAliasSetup(torch.tensor([0.0, 1.0]))


@pytest.mark.parametrize("name", ["Linear", "SpatialConvolution"])
def test_initialisation_of_layers_is_repeated(name):
    """Weight before bias, both uniform within 1/sqrt(fan-in)."""
    for case in golden_data.load_cases("nn", name):
        rng.manualSeed(case["seed"])
        bound = 1 / math.sqrt(case["params0"][0][0].numel())
        for expected in case["params0"]:
            # The nets were made of doubles; some were converted to floats afterwards.
            drawn = rng.uniform_(torch.empty_like(expected, dtype=torch.float64), -bound, bound)
            assert_same_bits(drawn.to(expected.dtype), expected)


@pytest.mark.parametrize(
    ("name", "p", "v2"),
    [("training", 0.5, True), ("training_v1", 0.3, False), ("training_inplace", 0.4, True)],
)
def test_dropout_masks_are_repeated(name, p, v2):
    (case,) = (case for case in golden_data.load_cases("nn", "Dropout") if case["name"] == name)
    rng.manualSeed(case["forwardSeed"])
    mask = rng.bernoulli_(torch.empty_like(case["noise"]), 1 - p)
    assert_same_bits(mask.div_(1 - p) if v2 else mask, case["noise"])


@pytest.mark.cuda
def test_fills_on_a_gpu_are_those_of_the_cpu():
    expected = rng.randn(3, CHUNK, generator=rng.Generator(7))
    actual = rng.randn(3, CHUNK, device="cuda", generator=rng.Generator(7))
    assert_same_bits(actual.cpu(), expected)
    view = torch.zeros(CHUNK, 3, device="cuda").t()
    rng.normal_(view, generator=rng.Generator(7))
    assert_same_bits(view.cpu().contiguous(), expected)
    overlapping = torch.zeros(1, device="cuda").expand(5)
    rng.uniform_(overlapping, generator=rng.Generator(7))
    assert overlapping.cpu().tolist() == [rng.rand(5, generator=rng.Generator(7))[-1].item()] * 5
