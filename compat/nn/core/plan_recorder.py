"""Making plans: what a pass calls is noted, and made into a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from compat.nn.core import generated
from compat.nn.core.plan import Call, Number, Place, Plan
from compat.nn.core.structure import same
from compat.nn.core.tape import Record, Recorded, Tape
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import OperatorMode, any_autocast, forward_class, version

# What tells of a tensor what its kind tells, or what only bookkeeping looks at.
_METADATA = {
    *(Tensor.dim, Tensor.ndimension, Tensor.size, Tensor.numel, Tensor.nelement, Tensor.__len__),
    *(Tensor.is_floating_point, Tensor.is_complex, Tensor.stride, Tensor.is_contiguous),
    *(Tensor.element_size, Tensor.is_inference, Tensor.get_device),
    *(torch.is_floating_point, torch.is_complex, torch.numel),
    *(getattr(Tensor, name).__get__ for name in ("shape", "ndim", "dtype", "device", "layout")),
    *(getattr(Tensor, name).__get__ for name in ("is_cuda", "is_meta", "nbytes", "_version")),
    *(getattr(Tensor, name).__get__ for name in ("requires_grad", "is_leaf", "grad_fn")),
    *(getattr(Tensor, name).__get__ for name in ("output_nr", "grad", "_base")),
    getattr(Tensor, "_is_view"),  # noqa: B009
}
# Fields that every pass sets.
_RECORDED = {"latest_tape", "latest_record", "_change_number"}
_PLAIN = (int, float, complex, bool, str, type(None), type(Ellipsis))
_CONSTANT = (torch.dtype, torch.device, torch.layout, torch.memory_format)


class Recorder:
    """Notes what a pass does, and makes a plan of it."""

    def __init__(self, leaves: Any, bare: bool) -> None:
        self._bare = bare
        self._left_out = False
        self.refused: str | None = None
        self._lines: list[str] = []
        self._written: list[tuple[dict[str, Any], str, str]] = []
        self._names: dict[int, str] = {}
        self._versions: list[tuple[Tensor, int]] = []
        self._objects: dict[str, Any] = {}
        self._constants: dict[int, Tensor] = {}
        self._functions: set[type] = set()
        self.is_muted = False
        self._runs_alone = True
        self._modes: list[Any] = []
        self._arguments = [self._named(leaf) for leaf in tensors(leaves)]

    def __enter__(self) -> Recorder:
        self._modes = [_Functions(self), _Operators(self)]
        for mode in self._modes:
            mode.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        # Taken from the list, as a mode holds the recorder, too.
        while self._modes:
            self._modes.pop().__exit__(*error)

    def refuse(self, reason: str) -> None:
        """There is no plan of this pass."""
        self.refused = self.refused or reason

    def whole(
        self, uses: type, function: Callable[..., Any], apply: Callable[..., Any], *args: Any
    ) -> Any:
        """Note a call of ``function`` as one step; ``apply`` is what it does.

        ``uses`` is the function of the graph that it may put into it.
        """
        self._functions.add(uses)
        with self.muted():
            result = apply(*args)
        self.note(function, args, {}, result)
        return result

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Within it, nothing is noted."""
        muted, self.is_muted = self.is_muted, True
        try:
            yield
        finally:
            self.is_muted = muted

    def take(self, output: Any) -> None:
        """Take in what a module gave that computes its own gradients: no function of the plan."""
        for tensor in tensors(output):
            self._named(tensor)

    def note(self, function: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Note a call of a function of PyTorch."""
        if self.is_muted or self.refused or function in _METADATA:
            return
        if function is Tensor.requires_grad_ and id(args[0]) not in self._names:
            return  # of a parameter, by the tape
        if self._bare and function is Tensor.__getitem__ and args[1] is Ellipsis:
            name = self._names.get(id(args[0]))
            if name is not None:
                self._left_out = True
                self._keep(result, name)
                return
        try:
            given = [self._expression(value) for value in args]
            given += [f"{name}={self._expression(value)}" for name, value in kwargs.items()]
        except _Refused as refused:
            self.refuse(f"{_name(function)} of {refused}")
            return
        call = f"{self._object(function)}({', '.join(given)})"
        if isinstance(result, Tensor):
            self._lines.append(f"{self._named(result)} = {call}")
        elif isinstance(result, (list, tuple)) and all(isinstance(t, Tensor) for t in result):
            self._lines.append(f"{''.join(f'{self._named(t)}, ' for t in result) or '_'} = {call}")
        elif result is None and function is Tensor.__setitem__:
            self._lines.append(call)
        else:
            self.refuse(f"{_name(function)} gives {type(result).__name__}")

    def note_fields(self, module: Any, before: dict[str, Any]) -> None:
        """Note which fields of ``module`` were set on the way; it had those of ``before``."""
        fields = vars(module)
        for name in {*before, *fields} - _RECORDED:
            value = fields.get(name)
            if not same(value, before.get(name)) and not self.refused:
                if id(value) in self._names:
                    self._written.append((fields, name, self._names[id(value)]))
                else:
                    self.refuse(f"{module.typename} sets {name}")

    def _named(self, tensor: Tensor) -> str:
        return self._keep(tensor, f"v{len(self._versions)}")

    def _keep(self, tensor: Tensor, name: str) -> str:
        self._names[id(tensor)] = name
        # This also keeps it, so that no other gets its id.
        self._versions.append((tensor, -1 if tensor.is_inference() else version(tensor)))
        return name

    def _object(self, value: Any) -> str:
        name = f"c{len(self._objects)}"
        self._objects[name] = value
        return name

    def _expression(self, value: Any) -> str:
        if isinstance(value, Tensor):
            name = self._names.get(id(value))
            if name is None:
                name = self._names[id(value)] = self._object(value)
                self._constants[id(value)] = value
            return name
        if type(value) in (list, tuple, torch.Size):
            inner = ", ".join(map(self._expression, value))
            return f"[{inner}]" if type(value) is list else f"({inner}{',' if inner else ''})"
        if type(value) is slice:
            parts = (value.start, value.stop, value.step)
            return f"slice({', '.join(map(self._expression, parts))})"
        if type(value) in (int, bool, str, type(None), type(Ellipsis)):
            return repr(value)
        if isinstance(value, (*_PLAIN, *_CONSTANT)):
            return self._object(value)
        raise _Refused(type(value).__name__)

    def plan(self, tape: Any, joined: dict[Any, Any]) -> Plan | None:
        """The plan of what was noted; ``joined`` has the modules of the tape's records."""
        if self.refused:
            return None
        records = tape.records
        modules = [joined[record] for record in records]
        if tape.sources or tape.ends:
            self.refuse("there are gradients that begin inside")
        elif tape.remembers_calls():
            self.refuse("there are modules that remember their calls")
        elif not all(module.repeatable for module in modules):
            self.refuse("there are modules that do not repeat themselves")
        elif not all(module.plannable for module in modules):
            self.refuse("there are modules that do more than compute")
        elif modules.count(modules[0]) > 1:
            self.refuse("the net is in itself")
        elif any(fields is vars(modules[0]) for fields, _, _ in self._written):
            self.refuse("the net itself, which holds the plan, has results in fields")
        if self.refused:
            return None
        held = _held(modules)
        referred = [t for r in records for value in (r.input, r.output) for t in tensors(value)]
        ids = {id(tensor) for tensor in referred}
        written = {id(tensor) for tensor, number in self._versions if _is_written(tensor, number)}
        if not self._constants.keys() <= held.keys():
            self.refuse("there are tensors from elsewhere")
        elif not ids <= self._names.keys():
            self.refuse("there are results from elsewhere")
        elif any(self._names[i] in self._arguments for i in ids & written):
            self.refuse("the input is written over")
        elif not {self._names[id(t)] for t in tensors(tape.root.output)}.isdisjoint(
            self._arguments
        ):
            self.refuse("the output is the input")
        elif tape.recording:
            for node in _python_functions(tape.root.output):
                if forward_class(node) not in self._functions:
                    self.refuse(f"{type(node).__name__} is written in Python")
        if self.refused:
            return None
        # Records of a plan have their tensors' places in the graph as they are in the end.
        self._runs_alone = not (tape.cuts or any(map(Record.is_written_over, records)))
        numbers = {id(t): i for i, t in enumerate({id(t): t for t in referred}.values())}

        def numbered(value: Any) -> Any:
            return map_tensors(lambda tensor: Number(numbers[id(tensor)]), value)

        plan = Plan(
            self._function(tape.root.output, [self._names[number] for number in numbers])
            if self._runs_alone
            else None,
            [
                Call(module, numbered(record.input), numbered(record.output), record)
                for module, record in zip(modules, records, strict=True)
            ],
            modules,
            [(held[number], tensor) for number, tensor in self._constants.items()],
            list(tape.parameters),
            self._left_out,
        )
        # Elsewhere operators run beside Python, and what is left of its time was not measured.
        alone = all(t.device.type == "cpu" for t in tensors(tape.leaves))
        if not (alone and tape.recording) or any_autocast():
            plan.direct = False
            if plan.run is None:
                return None
        plan.has_cuts = bool(tape.cuts)
        plan.written = [(fields, name) for fields, name, _ in self._written]
        return plan

    def _function(self, output: Any, kept: list[str]) -> Callable[..., Any]:
        written = [f"{self._object(f)}[{name!r}] = {value}" for f, name, value in self._written]
        result = self._expression(list(output) if isinstance(output, tuple) else output)
        values = "".join(f"{name}, " for name in kept)
        lines = [*self._lines, *written, f"return {result}, ({values})"]
        text = f"def run({', '.join(self._arguments)}):\n    " + "\n    ".join(lines)
        return generated.function(text, self._objects)


def _held(modules: Sequence[Any]) -> dict[int, Place]:
    """Where each tensor is that is a field, by its identity."""
    return {
        id(value): (None if module is modules[0] else vars(module), name)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Tensor)
    }


class _Refused(Exception):
    """There is a value that a plan cannot hold."""


def _is_written(tensor: Tensor, number: int) -> bool:
    return number >= 0 and version(tensor) != number


def _name(function: Any) -> str:
    return getattr(function, "__name__", str(function))


def _python_functions(output: Any) -> Iterator[Any]:
    """The nodes of the graph below ``output`` that are written in Python."""
    waiting = [t.grad_fn for t in tensors(output) if t.grad_fn is not None]
    seen = set(waiting)
    for node in waiting:
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            yield node
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                waiting.append(below)


class _Functions(TorchFunctionMode):
    """Sees the functions of PyTorch that are called."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self._recorder.note(func, args, kwargs or {}, result)
        return result


_DEPENDENT = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}


class _Operators(OperatorMode):
    """Sees the operators below them, for those whose results are not of the same kind each time."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if not (_DEPENDENT.isdisjoint(func.tags) or self._recorder.is_muted):
            self._recorder.refuse(f"{func} depends on values")
        return func(*args, **(kwargs or {}))


class PlannedTape(Tape):
    """The graph of a pass that a plan is made of."""

    __slots__ = ("joined", "recorder")

    def __init__(self, module: Recorded, source: Any) -> None:
        super().__init__(module, source)
        self.joined: dict[Record, Any] = {}
        self.recorder: Recorder | None = None

    def join(self, module: Recorded, input: Any) -> Any:
        if self.recorder is None:
            self.recorder = Recorder(self.leaves, bare=not self.keep)
            with self.recorder:
                return self.join(module, input)
        place, fields = len(self.records), dict(vars(module))
        output = super().join(module, input)
        if place == len(self.records):
            return output  # of a cut
        self.recorder.note_fields(module, fields)
        self.joined[self.records[place]] = module
        return output

    def _cut(self, module: Recorded, input: Any) -> Any:
        assert self.recorder is not None
        with self.recorder.muted():
            output = super()._cut(module, input)
        self.recorder.take(output)
        return output

    def planned(self) -> Plan | None:
        """The plan of it, if there can be one."""
        recorder, self.recorder = self.recorder, None
        joined, self.joined = self.joined, {}
        return None if recorder is None else recorder.plan(self, joined)
