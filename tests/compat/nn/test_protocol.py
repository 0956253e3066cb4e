"""Random programs over random nets, held against a naive interpreter of Torch7's protocol."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption
from support import protocol, protocol_nets
from support.protocol_nets import MILD, OWN, WIDTH, Draw, Maker, cases, inputs, twin
from torch import Tensor

from compat import optim, random, t7
from compat.nn.core.results import reuse_buffers
from compat.tensor_tables import tensors
from dptable import DataParallelTable

pytestmark = pytest.mark.usefixtures("double_by_default")


@contextmanager
def buffers(on: bool) -> Iterator[None]:
    before = reuse_buffers(on)
    protocol.Setting.reuse = on
    try:
        yield
    finally:
        reuse_buffers(before)
        protocol.Setting.reuse = False


def same(actual: Any, wanted: Any, what: str) -> None:
    """Tensors and tables of them agree; with rounding to single precision on the way, roughly."""
    agree(actual, wanted, what, "torch.float32" in what)


def agree(actual: Any, wanted: Any, what: str, rough: bool) -> None:
    if isinstance(wanted, (list, tuple)):
        assert isinstance(actual, (list, tuple)), f"{what} is {actual!r}"
        assert len(actual) == len(wanted), f"{what} has {len(actual)} entries, not {len(wanted)}"
        for i, (one, other) in enumerate(zip(actual, wanted, strict=True)):
            agree(one, other, f"{what}[{i}]", rough)
    elif wanted is None:
        assert actual is None, f"{what} is {actual!r}, not None"
    else:
        assert isinstance(actual, Tensor), f"{what} is {actual!r}"
        precision = 1e-3 if rough else 1e-9
        torch.testing.assert_close(
            actual,
            wanted,
            rtol=precision,
            atol=precision,
            equal_nan=True,
            msg=lambda m: f"{what}: {m}",
        )


FIELDS = ("weight", "bias", "gradWeight", "gradBias", "running_mean", "running_var", "noise")


class Program:
    """Does one thing after the other to both, and compares what they hold.

    Args:
        engine, naive: the nets.
        inner: whether results inside may be read.
    """

    def __init__(self, draw: Any, engine: Any, naive: Any, inner: bool = True) -> None:
        self.draw = draw
        self.engine, self.naive, self.inner = engine, naive, inner
        self.input = self.gradOutput = None
        self.seed = 0
        self.log: list[str] = []
        self.is_forward = self.is_back = False

    def check(self) -> None:
        if self.is_back:  # steep nets enlarge the last digits beyond any precision
            results = tensors([other.gradInput for other in self.naive.walk()])
            assume(not any((g.abs() > 1e4).any() for g in results))
        what = ", ".join(self.log)
        if self.is_forward:
            same(self.engine.output, self.naive.output, f"output after {what}")
        if self.is_back and self.engine.gradInput is not None:
            same(self.engine.gradInput, self.naive.gradInput, f"gradInput after {what}")
        for i in (0, 1):
            same(
                self.engine.parameters()[i],
                self.naive.parameters()[i],
                f"parameters {i} after {what}",
            )
        if self.inner:
            for one, other in self.pairs():
                for name in FIELDS:
                    if getattr(other, name, None) is not None:
                        kind = type(other).__name__
                        wanted = getattr(other, name)
                        if name != "noise" or (self.is_forward and wanted.numel()):
                            same(getattr(one, name), wanted, f"{name} of {kind} after {what}")
                if self.is_forward:
                    same(one.output, other.output, f"output of {type(other).__name__} after {what}")
                if self.is_back and other.gradInput is not None:
                    same(
                        one.gradInput,
                        other.gradInput,
                        f"gradInput of {type(other).__name__} after {what}",
                    )
        for one, other, name in (
            ((*self.given, "input"), (*self.grads, "gradOutput")) if self.is_forward else ()
        ):
            same(one, other, f"{name} after {what}")

    def pairs(self) -> list[tuple[Any, Any]]:
        engine = self.engine.get(1) if isinstance(self.engine, DataParallelTable) else self.engine
        return list(zip(engine.listModules(), self.naive.walk(), strict=True))

    def both(self, action: Any) -> bool:
        """Do something to both; whether it went without an error, which both must have."""
        errors = []
        for which in (0, 1):
            random.manualSeed(self.seed)
            try:
                action((self.engine, self.naive)[which], which)
                errors.append(None)
            except (AssertionError, UnsatisfiedAssumption):
                raise
            except Exception as error:
                errors.append(error)
        self.seed += 1
        if (errors[0] is None) != (errors[1] is None):
            raise AssertionError(
                f"after {', '.join(self.log)}: {errors[0]!r} and {errors[1]!r}"
            ) from (errors[0] or errors[1])
        return errors[0] is None

    given: tuple[Any, Any] = (None, None)
    grads: tuple[Any, Any] = (None, None)

    kinds: tuple[str, ...] = ("new", "transposed", "expanded", "part")

    def forward(self, rows: int) -> None:
        dtype = self.naive.parameters()[0][0].dtype if self.naive.parameters()[0] else torch.float64
        dtype = getattr(self, "dtype", dtype)
        x = inputs(self.draw, rows, self.kinds).to(dtype)
        g = inputs(self.draw, rows, self.kinds).to(dtype)
        self.given = x, twin(x)
        self.grads = g, twin(g)
        self.log.append(f"forward {tuple(x.shape)} {x.stride()}")
        done = self.both(lambda net, i: net.forward(self.given[i]))
        self.is_forward, self.is_back = done, False
        self.check()

    def backward(self, scale: float) -> None:
        if self.is_forward:
            self.log.append(f"backward {scale}")
            self.is_back = self.both(
                lambda net, i: net.backward(self.given[i], self.grads[i], scale)
            )
            self.check()

    def halves(self, scale: float) -> None:
        if self.is_forward:
            self.log.append("updateGradInput")
            self.is_back = self.both(
                lambda net, i: net.updateGradInput(self.given[i], self.grads[i])
            )
            self.check()
            if self.is_back:
                self.accumulate(scale)

    def accumulate(self, scale: float) -> None:
        if self.is_back:
            self.log.append(f"accGradParameters {scale}")
            self.both(lambda net, i: net.accGradParameters(self.given[i], self.grads[i], scale))
            self.check()

    def chosen(self, items: Any) -> Any:
        return self.draw.chosen(list(items))

    # What happens between passes.

    def zero(self) -> None:
        self.log.append("zeroGradParameters")
        self.engine.zeroGradParameters()
        for gradient in unique(self.naive.parameters()[1]):
            gradient.zero_()

    def update(self) -> None:
        self.log.append("updateParameters")
        self.engine.updateParameters(0.01)
        for p, g in zip(*self.naive.parameters(), strict=True):
            if g is not None:
                p.sub_(0.01 * g)

    def sgd(self) -> None:
        parameters, gradients = self.naive.parameters()
        places = [
            len({t.data_ptr() for t in ts if t is not None}) for ts in (parameters, gradients)
        ]
        if None in map(_known, gradients) or places[0] != places[1]:
            return  # frozen, or shared in part
        self.log.append("getParameters, sgd")
        flat, gradient = self.engine.getParameters()
        if not flat.numel():
            return
        optim.sgd(lambda _: (0.0, gradient), flat, {"learningRate": 0.01})
        parameters, gradients = self.naive.parameters()
        for p, g in {
            p.data_ptr(): (p, g) for p, g in zip(parameters, gradients, strict=True)
        }.values():
            p.sub_(0.01 * g)

    def mode(self) -> None:
        train = self.draw.flag()
        self.log.append(f"train = {train}")
        (self.engine.training if train else self.engine.evaluate)()
        for module in self.naive.walk():
            module.train = train

    def field(self) -> None:
        values = {
            "threshold": 0.3,
            "val": 0.4,
            "negval": 0.1,
            "constant_scalar": 0.25,
            "max_val": 0.2,
        }
        found = [(a, b, n) for a, b in self.pairs() for n in values if hasattr(b, n)]
        if found:
            one, other, name = self.chosen(found)
            self.log.append(f"{name} of {type(other).__name__} set")
            setattr(one, name, values[name])
            setattr(other, name, values[name])

    def no_gradInput(self) -> None:
        first = [p for p in self.pairs() if type(p[1]) is protocol.Linear]
        if first and self.engine.modules and self.engine.modules[0] is first[0][0]:
            self.log.append("gradInput of the first Linear = None")
            for one in first[0]:
                one.gradInput = None

    def no_input(self) -> None:
        """The gradient of the input is not wanted, from here on."""
        if isinstance(self.engine, DataParallelTable) and self.draw.number(0, 3) == 0:
            self.log.append("gradInput of the container = None")
            self.engine.gradInput = None

    def freeze(self) -> None:
        found = [p for p in self.pairs() if p[1].gradWeight is not None]
        if found:
            self.log.append("gradWeight = None")
            for one in self.chosen(found):
                one.gradWeight = None

    def weights(self) -> None:
        found = [p for p in self.pairs() if p[1].weight is not None]
        if not found:
            return
        one, other = self.chosen(found)
        how = self.chosen(["write", "replace", "set_", "resize"])
        new = torch.linspace(-0.5, 0.6, other.weight.numel(), dtype=other.weight.dtype).view_as(
            other.weight
        )
        if not all(m.weight.untyped_storage().resizable() for m in (one, other)):
            how = "write"
        self.log.append(f"weight of {type(other).__name__}: {how}")
        for m in (one, other):
            if how == "write":
                m.weight.mul_(0.5)
            elif how == "replace":
                m.weight = new.clone()
            elif how == "set_":
                m.weight.set_(new.clone())
            else:
                m.weight.resize_(m.weight.numel() + 3).resize_(new.shape).copy_(new)

    def share(self) -> None:
        found = [
            p
            for p in self.pairs()
            if p[1].weight is not None and p[1].weight.shape == (WIDTH, WIDTH)
        ]
        if len(found) > 1:
            (a, b), (c, d) = self.chosen(found), self.chosen(found)
            if a is c or b.gradWeight is None or d.gradWeight is None:
                return
            self.log.append("share")
            c.share(a, "weight", "gradWeight")
            d.weight.set_(b.weight)
            d.gradWeight.set_(b.gradWeight)

    def write_result(self) -> None:
        """Write into an output or gradInput that somebody holds."""
        name = self.chosen(["output"] * self.is_forward + ["gradInput"] * self.is_back or ["none"])
        if name == "none":
            return
        i = self.draw.number(0, len(self.pairs()) - 1) if self.inner else 0
        found = [
            tensors(getattr(m, name)) for m in self.pairs()[i] if getattr(m, name, None) is not None
        ]
        if len(found) == 2 and found[1]:
            self.log.append(f"write into {name} of {i} {type(self.pairs()[i][1]).__name__}")
            self.both(lambda net, which: found[which][0].mul_(0.5))
            self.check()

    def replace_output(self) -> None:
        if self.is_forward and self.inner:
            one, other = self.chosen(self.pairs())
            if isinstance(other.output, Tensor):
                self.log.append(f"output of {type(other).__name__} replaced")
                one.output, other.output = one.output * 0.5, other.output * 0.5

    def write_given(self) -> None:
        if self.is_forward:
            which = self.chosen(["given", "grads"])
            self.log.append(f"write into {which}")
            self.both(lambda net, i: getattr(self, which)[i].add_(0.25))

    def structure(self, maker: Maker) -> None:
        chains = [p for p in self.pairs() if type(p[1]) is protocol.Sequential and is_square(p[1])]
        if not chains:
            return
        one, other = self.chosen(chains)
        how = self.chosen(["add", "insert", "remove", "clone"])
        self.log.append(f"{how} in Sequential")
        a, b = convert(maker.layer(), self)
        i = self.draw.number(0, len(other.modules) - (how == "clone"))
        if how == "add":
            one.add(a)
            other.add(b)
        elif how == "insert":
            one.insert(a, i + 1)
            other.modules.insert(i, b)
            other.changed()
        elif how == "remove" and len(other.modules) > 1:
            i = self.draw.number(0, len(other.modules) - 1)
            one.remove(i + 1)
            other.modules.pop(i)
            other.changed()
        elif how == "clone":
            one.modules[i] = one.modules[i].clone()
            other.modules[i] = other.modules[i].clone()
        self.is_back = False

    def instance(self) -> None:
        one, other = self.chosen(self.pairs())
        method = self.chosen(["updateOutput", "updateGradInput", "accGradParameters", "backward"])
        self.log.append(f"{method} of {type(other).__name__} replaced")
        for m in (one, other):
            setattr(m, method, replaced(m, method))

    def as_before(self) -> None:
        for pair in self.pairs():
            for m in pair:
                for method in ("updateOutput", "updateGradInput", "accGradParameters", "backward"):
                    vars(m).pop(method, None)

    def clone(self) -> None:
        self.as_before()
        self.log.append("clone")
        old = self.engine, self.naive
        self.engine, self.naive = old[0].clone(), old[1].clone()
        self.check_others(old)

    def check_others(self, old: Any) -> None:
        """What becomes of a clone does not touch what it was made of."""
        self.kept = old

    def clear(self) -> None:
        self.log.append("clearState")
        self.engine.clearState()
        for module in self.naive.walk():
            module.clear()
        self.is_forward = self.is_back = False

    def file(self) -> None:
        self.as_before()
        how = self.chosen(["t7", "torch"])
        self.log.append(how)
        if how == "t7":
            self.engine = t7.loads(t7.dumps(self.engine))
        else:
            file = io.BytesIO()
            torch.save(self.engine, file)
            file.seek(0)
            self.engine = torch.load(file, weights_only=False)
        self.is_forward = self.is_back = False

    def type(self) -> None:
        dtype = self.chosen([torch.float32, torch.float64])
        self.log.append(str(dtype))
        (self.engine.float if dtype == torch.float32 else self.engine.double)()
        self.dtype = dtype
        memo: dict[Any, Tensor] = {}  # what shares memory goes on sharing it
        for module in self.naive.walk():
            for name, value in list(vars(module).items()):
                if name not in ("output", "gradInput") and isinstance(value, Tensor):
                    place = (value.data_ptr() or id(value), value.shape)
                    setattr(module, name, memo.setdefault(place, value.to(dtype)))
        for module in self.naive.walk():
            module.clear()
            for name in ("output", "gradInput"):
                if isinstance(getattr(module, name), Tensor):
                    setattr(module, name, getattr(module, name).to(dtype))
        self.engine.clearState()
        self.is_forward = self.is_back = False

    def fail(self) -> None:
        found = [p for p in self.pairs() if isinstance(p[1], protocol_nets.Fails)]
        if not found:
            return
        pair = self.chosen(found)
        method = self.chosen(["updateOutput", "updateGradInput", "accGradParameters"])
        for m in pair:
            m.fails = method
        self.log.append(f"{method} fails")
        self.forward(3)
        self.backward(1)
        for m in pair:
            m.fails = ""

    def wrong_size(self) -> None:
        self.log.append("wrong size")
        x = torch.ones(3, WIDTH + 1, dtype=getattr(self, "dtype", torch.float64))
        self.both(lambda net, i: net.forward(x.clone()))
        self.is_forward = self.is_back = False


def _known(value: Any) -> Any:
    return None if value is None else True


def is_square(net: Any) -> bool:
    """Whether each module of a Sequential gives what it takes."""
    square = (*protocol.LEAVES.values(), protocol.Pointwise, protocol.Identity, protocol.Dropout)
    return all(
        isinstance(
            m,
            (
                *square,
                protocol.Sequential,
                protocol.gModule,
                protocol.GradientReversal,
                protocol.BatchNormalization,
            ),
        )
        or (isinstance(m, protocol.Linear) and m.weight.shape == (WIDTH, WIDTH))
        for m in net.modules
    )


def convert(pair: Any, program: Program) -> Any:
    """A new layer in the type of the net."""
    dtype = getattr(program, "dtype", torch.float64)
    one, other = pair
    if dtype == torch.float32:
        one.float()
        for name, value in list(vars(other).items()):
            if isinstance(value, Tensor):
                setattr(other, name, value.to(dtype))
    return one, other


def replaced(module: Any, method: str) -> Any:
    """Another method for one module."""
    usual = getattr(type(module), method)
    if method == "updateOutput":
        return lambda input: usual(module, input * 0.5 if isinstance(input, Tensor) else input)
    if method == "updateGradInput":
        return lambda input, gradOutput: usual(
            module, input, gradOutput * 3 if isinstance(gradOutput, Tensor) else gradOutput
        )
    if method == "accGradParameters":
        return lambda input, gradOutput, scale=1: None
    return lambda input, gradOutput, scale=1: usual(module, input, gradOutput, scale * 0.5)


def unique(found: list[Any]) -> list[Tensor]:
    return list({id(t): t for t in found if t is not None}.values())


def passes(program: Program, draw: Draw) -> None:
    program.forward(draw.chosen([1, 2, 3, 5]))
    for _ in range(draw.chosen([1, 1, 2, 0])):
        scale = draw.chosen([1, 0.5, -2])
        (program.halves if draw.flag() else program.backward)(scale)


QUIET = ["zero", "update", "sgd", "mode", "field", "freeze", "no_gradInput", "weights", "share"]
BETWEEN = [
    "write_result",
    "replace_output",
    "write_given",
    "instance",
    "clone",
    "clear",
    "file",
    "type",
]


def run(draw: Any, kinds: list[str], program: Program, maker: Maker) -> None:
    program.check()
    for _ in range(draw.number(1, 3)):
        passes(program, draw)
        for _ in range(draw.number(0, 3)):
            kind = draw.chosen([*kinds, "again", "accumulate"])
            if kind == "again":
                program.backward(draw.chosen([1, 0.5]))
            elif kind == "accumulate":
                program.accumulate(0.5)
            elif kind == "structure":
                program.structure(maker)
                if program.log[-1] != "remove in Sequential":
                    program.is_forward = False
            else:
                getattr(program, kind)()
            if kind == "file":
                maker.made.clear()  # what was made is in the naive net alone
            program.check()
    passes(program, draw)


def any_program(draw: Draw, reuse: bool) -> None:
    random.manualSeed(1)
    with buffers(reuse):
        in_place = draw.flag()
        maker = Maker(draw, in_place=in_place, batches=True, noise=True, own=OWN, shared=True)
        program = Program(draw, *maker.chain(2))
        if in_place:  # in memory that several elements share it would be undefined
            program.kinds = ("new", "transposed", "part")
        run(draw, [*QUIET, *BETWEEN, "structure", "fail", "wrong_size"], program, maker)


@pytest.mark.parametrize("reuse", [False, True], ids=["new tensors", "buffers"])
@cases(130)
@given(data=st.data())
def test_any_program_of_any_net(reuse: bool, data: st.DataObject) -> None:
    any_program(Draw(data), reuse)


def lean_program(draw: Draw) -> None:
    """Results freed on the way back: what is left is the same."""
    maker = Maker(draw, in_place=draw.flag(), batches=True, noise=True, own=OWN, shared=True)
    program = Program(draw, *maker.chain(2), inner=False)
    program.kinds = ("new", "transposed", "part")
    program.engine.keepResults(False)
    for _ in range(draw.number(2, 4)):
        program.forward(draw.chosen([1, 2, 3, 5]))
        if draw.flag():
            getattr(program, draw.chosen(["clone", "write_given", "field", "weights"]))()
        (program.halves if draw.flag() else program.backward)(draw.chosen([1, 0.5, -2]))
        for _ in range(draw.number(0, 2)):
            getattr(program, draw.chosen([*QUIET, "clear", "file", "type", "fail", "clone"]))()
        program.check()


def compiled_program(draw: Draw) -> int:
    """Passes through code that was made of them; returns how many there were."""
    maker = Maker(draw, in_place=False, batches=True, noise=True, own=(), shared=True)
    program = Program(draw, *maker.chain(1), inner=False)
    program.kinds = ("new",)
    program.engine.compile()
    count = 0
    for _ in range(draw.number(1, 2)):
        rows = draw.chosen([2, 3])
        for _ in range(4):
            program.forward(rows)
            compilation = program.engine.compilation
            count += compilation is not None and compilation._pass is not None
            for _ in range(draw.chosen([1, 1, 2])):
                program.backward(draw.chosen([1, 0.5, -2]))
            if draw.flag():
                getattr(program, draw.chosen(["zero", "update", "sgd"]))()
                program.check()
        getattr(program, draw.chosen([*QUIET, "clone", "file", "type"]))()
        program.check()
    return count


def replicated_program(draw: Draw) -> None:
    """Two replicas on CPUs."""
    own = MILD if draw.flag() else ()
    maker = Maker(draw, in_place=False, batches=False, noise=False, own=own, shared=draw.flag())
    engine, naive = maker.chain(2)
    dpt = DataParallelTable(1, draw.flag(), False).add(engine, [1, 2])
    if draw.flag():
        dpt.threads()
    program = Program(draw, dpt, naive, inner=False)
    try:
        for _ in range(draw.number(2, 4)):
            program.forward(draw.chosen([2, 3, 5]))
            for _ in range(draw.chosen([1, 1, 2])):
                scale = draw.chosen([1, 0.5, -2])
                (program.halves if draw.flag() else program.backward)(scale)
            for _ in range(draw.number(0, 3)):
                between = ["zero", "update", "sgd", "weights", "type", "clear", "no_input"]
                getattr(program, draw.chosen(between))()
                if draw.flag():
                    program.check()
    finally:
        program.engine.close()


@cases(60)
@given(data=st.data())
def test_lean_passes(data: st.DataObject) -> None:
    random.manualSeed(1)
    lean_program(Draw(data))


@pytest.mark.filterwarnings("ignore:compile")
@cases(20)
@given(data=st.data())
def test_compiled_passes(data: st.DataObject, interpreted: None) -> None:
    random.manualSeed(1)
    compiled_program(Draw(data))


@pytest.mark.cpus(2)
@cases(60)
@given(data=st.data())
def test_replicas(data: st.DataObject) -> None:
    random.manualSeed(1)
    replicated_program(Draw(data))
