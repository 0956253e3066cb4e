"""``nn.Module``: the contract that every layer, container and user's own layer keeps."""

from __future__ import annotations

import copy
import copyreg
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeAlias, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import check_number, check_tensor, flag, given, listed
from compat.moves import moved
from compat.nn.checks.error_place import blame, fail, locate, locate_within
from compat.nn.core import flat_storage, recording
from compat.nn.core.convertible import Convertible
from compat.nn.core.dpnn import DpnnMethods
from compat.nn.core.node import Node, symbolic
from compat.nn.core.parameter import Parameter, gradient_name
from compat.nn.core.recomputation import grad_input_at_backward, record_again
from compat.nn.core.recurrent_methods import RecurrentMethods
from compat.nn.core.slots import RESULTS, Slot, changes, slots_in
from compat.nn.core.stand_ins import keep_in
from compat.nn.core.structure import Structure, same
from compat.nn.core.tape import PENDING, UNSET, Record, Tape, current_tape
from compat.tensor_tables import contents, map_tensors, tensors
from compat.tensor_types import default_type, tag, tensor_type
from compat.torch_internals import foreach_add_, foreach_zero_

M = TypeVar("M", bound="Module")
# Inside Module the name float is the method.
Scalar: TypeAlias = float

_OWN_METHODS = ("updateOutput", "updateGradInput", "accGradParameters", "backward")
# Fields that no computation depends on.
_RESULTS = frozenset(
    ("output", "gradInput", "_output", "_gradInput", "results_read", "read_after_update")
)

F = TypeVar("F", bound=Callable[..., Any])
_deterministic: set[Callable[..., Any]] = set()


def deterministic(compute: F) -> F:
    """Mark a ``Module.compute`` that gives the same output again for the same input."""
    _deterministic.add(compute)
    return compute


class Module(DpnnMethods, RecurrentMethods, Convertible):
    """A differentiable function with state (Torch7: ``nn.Module``).

    Two ways to write one:

    * state the forward computation alone, as ``compute(input)``, a pure function of the input and
      of the parameters in PyTorch operations; gradients follow from autograd;
    * write Torch7's methods, ``updateOutput(input)``, ``updateGradInput(input, gradOutput)`` and
      ``accGradParameters(input, gradOutput, scale)``. Such a module works anywhere in a net.

    Trained fields are declared in the class as ``weight = Parameter()``; ``weight`` and ``bias``
    are declared here for all.

    Fields: ``output`` and ``gradInput`` (tensors, or lists and dicts of them) hold the latest
    results; ``train`` tells training from evaluation. Setting ``gradInput`` to None means that it
    is not wanted: the gradient stops at this module's input.

    Of the class: ``takes``, what its input is (``compat.nn.checks.tensors``), or None where that is
    not known and errors are left as they are; ``repeatable``, whether going forward again with the
    same input gives the same output. A class with a ``compute`` of its own is not, unless it says
    so; ``unit_scale``, whether backward refuses a ``scale`` other than 1; ``keeps_gradients``,
    whether ``accUpdateGradParameters`` leaves the gradients of shared parameters as they are, as
    Torch7's class does; ``optional_gradient``, whether setting ``gradInput`` to None switches it
    off, which modules that compute none of their own pay no heed to; ``adds_gradient``, whether
    backward adds to the gradient even where none comes back from the output; ``needs_gradOutput``,
    whether backward looks at its gradOutput, which else may be anything.

    ``plannable``, whether what it computes may be noted and repeated (``compat.nn.core.plan``):
    not where it depends on the current device, or does more than compute.

    For the engine (``compat.nn.core.tape``): ``latest_tape`` and ``latest_record``, the graph of
    the latest call and what it knows of this module; ``recordable``, whether a net's graph goes
    through this module, which with Torch7's methods it does not; ``remembers_calls``, whether such
    a module goes back through its calls itself, the latest first; ``stops_gradient``, whether
    ``gradInput`` is switched off. ``keep_results``, as ``keepResults`` set it; ``results_read``,
    whether backward must not free the results inside, since they are read, and
    ``read_after_update``, whether even after an update, None until that is known.

    PyTorch: ``torch.nn.Module``.
    """

    weight = Parameter()
    bias = Parameter()
    train: bool = True
    shared: bool = False
    repeatable: bool = True
    plannable: ClassVar[bool] = True
    optional_gradient: ClassVar[bool] = True
    adds_gradient: ClassVar[bool] = False
    needs_gradOutput: ClassVar[bool] = True
    unit_scale: ClassVar[bool] = False
    keeps_gradients: ClassVar[bool] = False
    transient_fields: ClassVar[tuple[str, ...]] = tuple(RESULTS)
    pass_fields: ClassVar[tuple[str, ...]] = ()
    recordable: bool = True
    remembers_calls: ClassVar[bool] = False
    # The results that Lua's class makes anew each time, where it fills the same tables otherwise.
    makes_anew: ClassVar[tuple[str, ...]] = ()
    # Whether a result that is the input is another tensor over its memory.
    sets_results: ClassVar[bool] = False
    stops_gradient: bool = False
    # Whether nil in a file says so: Lua's class may leave gradInput out until it goes back.
    nil_stops_gradient: ClassVar[bool] = True
    # Set by `compat.nn.interchange`, which knows all layers.
    torch_converter: ClassVar[Callable[[Any], torch.nn.Module]]
    parameter_names: ClassVar[tuple[str, ...]] = ()
    latest_tape: Tape | None = None
    keep_results: bool | None = None
    compilation: Any = None
    watched: bool = False
    results_read: bool = False
    read_after_update: bool | None = None
    _output: Any = UNSET
    _gradInput: Any = UNSET
    _engine_fields: ClassVar[tuple[str, ...]] = (
        "recordable",
        "stops_gradient",
        "keep_results",
        "compilation",
        "watched",
    )
    # Fields that are not written to files.
    _python_fields: ClassVar[frozenset[str]] = frozenset((*transient_fields, *_engine_fields))

    def __init__(self) -> None:
        # A class whose __init__ does not call this one works, too, as in Lua.
        self._type = default_type()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared: dict[str, None] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, Parameter):
                    # Declared again, it moves to the end.
                    declared.pop(name, None)
                    declared[name] = None
                else:
                    declared.pop(name, None)
        cls.parameter_names = tuple(declared)
        cls._python_fields = frozenset(
            (*cls.transient_fields, *cls.pass_fields, *cls._engine_fields)
        )
        own = vars(cls)
        if "compute" in own and "repeatable" not in own and own["compute"] not in _deterministic:
            cls.repeatable = False
        cls.recordable = cls.records()

    @classmethod
    def records(cls) -> bool:
        """Whether the methods of the class leave gradients to the graph."""
        return all(getattr(cls, name) is getattr(Module, name) for name in _OWN_METHODS)

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        before = fields.get(name, UNSET)
        object.__setattr__(self, name, value)
        # What a computation leaves behind is no change of what computes it.
        left = isinstance(value, Tensor) and current_tape() is not None
        if not left and name not in _RESULTS and not same(before, value):
            Structure.changed(fields)
        if "watched" in fields and name not in RESULTS and name != "output":
            changes.count += 1
        if name in _OWN_METHODS:
            # A method replaced on one object, as scripts do to freeze a layer.
            object.__setattr__(self, "recordable", False)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        Structure.changed(self.__dict__)
        if "watched" in self.__dict__:
            changes.count += 1
        if name in _OWN_METHODS and not any(other in self.__dict__ for other in _OWN_METHODS):
            self.__dict__.pop("recordable", None)

    # The three methods.

    def compute(self, input: Any) -> Any:
        """The forward computation, in PyTorch operations. Classes define it."""
        raise TypeError(f"{self.typename} defines neither compute(input) nor updateOutput(input)")

    def updateOutput(self, input: Any) -> Any:
        """Compute and return ``output``."""
        if current_tape() is not None:
            return self.run(input)
        try:
            recording.record(self, input)
        except Exception as error:
            fail(error, self, input=input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Compute and return ``gradInput`` for the latest ``updateOutput`` of ``input``."""
        return self._backward(input, gradOutput, 1, to_input=True, to_parameters=False)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add ``scale`` times the gradients of the parameters to what they hold."""
        self._backward(input, gradOutput, scale, to_input=False, to_parameters=True)

    def set_output(self, value: Any) -> Any:
        """Make ``value``, memory of its own, the output; returns what holds it now."""
        self.output = value
        return value

    def set_gradInput(self, value: Any) -> Any:
        """Make ``value``, memory of its own, the gradInput, unless that is None: not wanted."""
        if self.stops_gradient:
            return None
        self.gradInput = value
        return value

    def forward(self, input: Any) -> Any:
        """``updateOutput``."""
        as_is = self.recordable or isinstance(input, Tensor)
        return self.updateOutput(input if as_is else t7.plain(input))

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """``updateGradInput``, then ``accGradParameters`` with ``scale``. Returns ``gradInput``.

        ``scale`` multiplies what is added to the parameters' gradients, not ``gradInput``.
        """
        if self.recordable:
            return self._backward(input, gradOutput, scale, to_input=True, to_parameters=True)
        input, gradOutput = t7.plain(input), t7.plain(gradOutput)
        gradInput = self.updateGradInput(input, gradOutput)
        self.accGradParameters(input, gradOutput, scale)
        return self.gradInput if gradInput is None else gradInput

    def __call__(self, input: Any = UNSET, gradOutput: Any = None) -> Any:
        """``forward``; with ``gradOutput`` also ``backward``, returning both results.

        With nodes of a graph, or nothing, a ``Node`` of this module (Torch7's package nngraph).
        """
        if input is UNSET or symbolic(input):
            return Node.of(self, input)
        self.forward(input)
        if gradOutput is None:
            return self.output
        self.backward(input, gradOutput)
        return self.output, self.gradInput

    def __neg__(self) -> Any:
        """``-nn.Identity()``: a node that takes nothing, as in nngraph."""
        return self()

    def __rsub__(self, nodes: Any) -> Any:
        """``[x, y] - nn.CAddTable()``: a node of this module, as in nngraph."""
        return self(nodes) if symbolic(nodes) else NotImplemented

    def run(self, input: Any) -> Any:
        """Compute as a part of the net that is going forward. Containers call children so."""
        tape = current_tape()
        if tape is None:
            return self.updateOutput(input)
        try:
            return tape.join(self, input)
        except Exception as error:
            fail(error, self, input=input)

    def _backward(
        self, input: Any, gradOutput: Any, scale: Scalar, to_input: bool, to_parameters: bool
    ) -> Any:
        scale = 1 if scale is None else scale  # nil, as Lua passes what is left out
        if type(self).compute is Module.compute:
            # A module of Torch7's kind without this method: as in Torch7, nothing to compute.
            return self.gradInput
        if not (to_input or self.latest_tape is not None or self.parameters()[0]):
            return None
        what = "updateGradInput" if to_input else "accGradParameters"
        if not self.needs_gradOutput:
            gradOutput = None
        try:
            check_number(scale, "scale")
            if scale != 1 and to_parameters:
                self._check_scale(scale)
            tape, record = self._call_of(input, what)
            result = tape.backward(record, gradOutput, scale, to_input, to_parameters)
        except Exception as error:
            if "modified by an inplace operation" in str(error):
                error.args = (
                    "results inside the net were changed in place since forward; "
                    "go forward again before going back",
                )
            blame(error, self, what, input, gradOutput)
            locate(error, self)
            raise
        if not to_input or not tape.to_input or self.ends_gradient():
            return None
        record.grad_input = self._as_grad_input(record.input, result)
        return record.grad_input

    def _check_scale(self, scale: Scalar) -> None:
        for module in self.listModules():
            if getattr(module, "unit_scale", False):
                error = ValueError(f"scale is {scale}; 1 is accepted")
                locate_within(error, module, self)
                raise error

    def _call_of(self, input: Any, what: str) -> tuple[Tape, Record]:
        """The latest call; if that had another input, a new one with ``input``."""
        tape, record = self._latest_call(what)
        if tape is None or record is None or record.output is None:
            raise RuntimeError("backward needs a forward pass first")
        if not tape.recording:
            raise RuntimeError("backward needs a forward pass outside of torch.no_grad() first")
        if tape.root is not record or input is tape.source:
            return tape, record
        given, known = ([tuple(t.shape) for t in tensors(x)] for x in (input, tape.source))
        if given != known:
            raise ValueError(
                f"input has size {listed(given, 'and')}; that of forward, {listed(known, 'and')}, "
                "is accepted"
            )
        # What remembers its calls is asked for those before the latest by their inputs.
        if not (tape.remembers_calls() or tape.is_source(input)):
            self.updateOutput(input)
            tape, record = self.latest_tape, self.latest_record
            assert tape is not None and record is not None
        return tape, record

    def joins(self, tape: Tape) -> bool:
        """Whether its computation is a part of a graph that it comes to in a net."""
        return self.recordable

    def holder(self, name: str) -> Module:
        """The module that holds the result of that name; a module of a step holds its."""
        return self

    def _latest_call(self, what: str) -> tuple[Tape | None, Record | None]:
        """The latest call, made again where its results are not there, for ``what``."""
        tape = self.latest_tape
        if tape is not None and tape.lacks(self.latest_record, what):
            record_again(tape, self, what)
        return self.latest_tape, self.latest_record

    def _as_grad_input(self, input: Any, gradients: Any) -> Any:
        """The gradInput made of what the graph gave; ``unreached`` where that is None."""
        if isinstance(input, Tensor):
            return self.gradient_of_unreached(input) if gradients is None else gradients
        if isinstance(input, (list, tuple)):
            known = [None] * len(input) if gradients is None else gradients
            return [self._as_grad_input(i, g) for i, g in zip(input, known, strict=True)]
        if isinstance(input, dict):
            known = dict.fromkeys(input) if gradients is None else gradients
            return {key: self._as_grad_input(i, known[key]) for key, i in input.items()}
        return gradients

    def ends_gradient(self) -> bool:
        """Whether there is no ``gradInput``: switched off here, or where the input goes."""
        return self.stops_gradient

    def gradient_of_unreached(self, input: Tensor) -> Tensor | None:
        """``unreached``, or None where ``gradInput`` is switched off."""
        return None if self.stops_gradient else self.unreached(input)

    def unreached(self, input: Tensor) -> Tensor | None:
        """The gradInput for a tensor of the input that the output does not depend on."""
        return torch.zeros_like(input)

    @property
    def output(self) -> Any:
        """The latest result, without graph; an empty tensor before the first.

        Backward frees the outputs of modules inside a net; see ``keepResults``.
        """
        record = self.latest_record
        if record is not None:
            if record.plain_output is not None:
                return record.plain_output
            if record.output is None:
                _, record = self._latest_call("output")
                assert record is not None
            if record.output is not None:
                found = record.output
                alone = isinstance(found, Tensor)
                record.plain_output = found.detach() if alone else map_tensors(Tensor.detach, found)
                return record.plain_output
        if self._output is UNSET:
            self._output = self._empty()
        return self._output

    @output.setter
    def output(self, value: Any) -> None:
        if self.latest_record is not None:
            self._own_record().plain_output = value
        self._output = value

    @property
    def gradInput(self) -> Any:
        """The gradient of the latest input.

        There after backward on the module that was called; of a module inside a net it is
        computed when read, which must be before the next forward; see ``keepResults``. None where
        it was switched off, and for modules that such a one cuts off from the graph.
        """
        if self.stops_gradient:
            return None
        record = self.latest_record
        if record is not None:
            if record.grad_input is UNSET:
                tape, record = self._latest_call("gradInput")
                assert tape is not None and record is not None
                if record.grad_input is UNSET and tape.went_back(record):
                    if not record.has_input_in_graph():
                        return None
                    found = grad_input_at_backward(tape, record, self)
                    record.grad_input = self._as_grad_input(record.input, found)
            if record.grad_input is not UNSET:
                return record.grad_input
        if self._gradInput is UNSET:
            self._gradInput = self._empty()
        return self._gradInput

    @gradInput.setter
    def gradInput(self, value: Any) -> None:
        if self.latest_record is not None:
            self._own_record().grad_input = value
        stops = value is None and self.optional_gradient
        if stops is not self.stops_gradient:
            self.stops_gradient = stops
        self._gradInput = UNSET if value is None else value

    @property
    def latest_record(self) -> Record | None:
        """What the graph knows of the latest call of this module."""
        record: Record | None = self.__dict__.get("latest_record")
        if record is PENDING:
            assert self.latest_tape is not None
            self.latest_tape.make_records()
            record = self.__dict__["latest_record"]
        return record

    def _own_record(self) -> Record:
        """The latest call's record, not one that other modules have too."""
        record, tape = self.latest_record, self.latest_tape
        if record is None or (tape is not None and tape.is_shared(record)):
            record = self.__dict__["latest_record"] = Record(None)
        return record

    # Parameters.

    def own_tensor(self) -> Tensor | None:
        return next(self._own_parameters(), None)

    def _own_parameters(self) -> Iterator[Tensor]:
        fields = self.__dict__
        for name in self.parameter_names:
            parameter = fields.get(name)
            if parameter is not None:
                yield parameter

    def trained_parameters(self) -> list[Tensor]:
        fields, found = self.__dict__, []
        for name in self.parameter_names:
            parameter = fields.get(name)
            if parameter is not None and parameter.grad is not None:
                found.append(parameter)
        return found

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        """The trained tensors and their gradients: two lists, empty when there are none."""
        own = list(self._own_parameters())
        return own, [p.grad for p in own]  # type: ignore[misc]

    def getParameters(self) -> tuple[Tensor, Tensor]:
        """All parameters in one flat tensor, all gradients in another.

        See ``compat.nn.core.flat_storage``.
        """
        return flat_storage.flatten(*self.parameters())

    def zeroGradParameters(self: M) -> M:
        """Fill the gradients of the parameters with zeros."""
        gradients = [g for g in self.parameters()[1] if g is not None]
        if gradients:
            foreach_zero_(gradients)
        return self

    def updateParameters(self: M, learningRate: Scalar) -> M:
        """Subtract ``learningRate`` times its gradient from each parameter.

        One that several modules share moves once for each of them, as in Torch7.
        """
        subtract(zip(*self.parameters(), strict=True), learningRate)
        return self

    def backwardUpdate(self, input: Any, gradOutput: Any, lr: Scalar) -> Any:
        """``updateGradInput``, then ``accUpdateGradParameters``. Returns ``gradInput``."""
        self.updateGradInput(input, gradOutput)
        self.accUpdateGradParameters(input, gradOutput, lr)
        return self.gradInput

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Move the parameters by ``-lr`` times the gradients of this batch alone.

        What the gradient tensors hold stays as it is. Those of modules that share parameters hold
        the gradients of this batch afterwards, unless the class ``keeps_gradients``.
        """
        check_number(lr, "lr")
        parameters = [p for p in dict.fromkeys(self.parameters()[0]) if p.grad is not None]
        kept = [p.grad for p in parameters]
        for p in parameters:
            p.grad = torch.zeros_like(p)
        try:
            self.accGradParameters(input, gradOutput, 1)
            steps = [p.grad for p in parameters if p.grad is not None]
        finally:
            for p, grad in zip(parameters, kept, strict=True):
                p.grad = grad
        if parameters:
            with torch.no_grad():
                foreach_add_(parameters, steps, alpha=-lr)
        taken = dict(zip(map(id, parameters), steps, strict=True))
        for module in reversed(self.listModules()):
            if module.shared and not module.keeps_gradients:
                for p in module.trained_parameters():
                    if p.grad is not None and id(p) in taken:
                        p.grad.copy_(taken[id(p)])

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """As ``accUpdateGradParameters``, through the gradient tensors, which are zeroed first."""
        if self.parameters()[0]:
            self.zeroGradParameters()
            self.accGradParameters(input, gradOutput, 1)
            self.updateParameters(lr)

    def share(self: M, mlp: Module, *names: str) -> M:
        """Make the named fields (``"weight"``, ``"gradWeight"``) those of ``mlp``."""
        for name in names:
            theirs = getattr(mlp, name, None)
            ours = getattr(self, name, None)
            if theirs is None or ours is None:
                continue
            check_tensor(theirs, f"{name} of {mlp.typename}")
            ours.data = theirs.detach()
            moved([ours])
            self.shared = mlp.shared = True
        return self

    def clone(self: M, *names: str) -> M:
        """A deep copy; the fields named (``"weight", "bias"``) are shared with the original."""
        clone = copy.deepcopy(self)
        return clone.share(self, *names) if names else clone

    def reset(self: M, stdv: Scalar | None = None) -> M:
        """Draw the parameters anew, from ±stdv·√3 or from the class's own range."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled tensors lack their grad, without which parameters would come back frozen.
        gradients = {
            name: self.__dict__[name].grad
            for name in self.parameter_names
            if self.__dict__.get(name) is not None
        }
        return copyreg.__newobj__, (type(self),), (self.__getstate__(), gradients)  # type: ignore[attr-defined]

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Tensor | None]]) -> None:
        fields, gradients = state
        self.__dict__.update(fields)
        for name, gradient in gradients.items():
            self.__dict__[name].grad = gradient

    def training(self: M) -> M:
        """Set the mode in which noise is drawn and statistics are gathered."""
        if self.__dict__.get("train") is not True:  # scripts say so before each pass
            self.train = True
        return self

    def evaluate(self: M) -> M:
        """Set the mode in which the net is used."""
        self.train = False
        return self

    def drop_graph(self) -> None:
        if self.latest_tape is not None and self.latest_tape.root is self.latest_record:
            self.latest_tape.release()
        Structure.changed(self.__dict__)
        super().drop_graph()

    def clearState(self: M) -> M:
        """Drop ``output``, ``gradInput`` and the graph: what need not be saved."""
        record = self.latest_record
        known = self._output if record is None else record.output
        self.drop_graph()
        if isinstance(known, (list, tuple)):
            self._output = []
        return self

    def keepResults(self: M, keep: bool | None = True) -> M:
        """Say whether the results inside this net stay after backward, as they do in Torch7.

        These are ``output`` and ``gradInput`` of the modules inside, which may be read until the
        next forward, and what it takes to go back again after an update of the parameters, with the
        kept outputs and the new parameters. To keep them takes a fifth more memory at the peak of a
        step, and a copy of the parameters.

        Args:
            keep: None, the default of new nets, keeps what is read: until the first update after
                which nothing is, results are computed again for who reads them; a net that was read
                keeps them from then on; and reading what was not kept, after a later update, is an
                error. True keeps all from the next forward on. False frees all; what is read before
                an update is computed again each time, and after an update it is an error.

        ``nn.Module.keep_results = True`` is ``keepResults()`` for all nets.
        """
        if keep is not None and not isinstance(keep, bool):
            raise TypeError(f"keep is {keep!r}; True, False or None is accepted")
        for module in self.listModules():
            module.keep_results = keep
        return self

    def compile(self: M, on: bool = True) -> M:
        """Compute this net through code that PyTorch's compiler makes for it, from now on.

        Code is made for a form of input (sizes, type, training or evaluation) when it comes the
        second time, for eight forms at most; that takes seconds, for large unrolled nets minutes.
        It needs a C++ compiler on CPUs. What cannot be compiled is computed as ever, after one
        warning that says why: modules that compute their own gradients or remember their calls,
        decisions that depend on values, PyTorch's random numbers.

        Results are the same to rounding, random numbers the same, and so are ``output``,
        ``gradInput``, the flat storage and files, which do not tell. Results inside the net are
        computed again, as ever, for who reads them. A clone is compiled by itself; nets that
        compute alike share the code.

        Args:
            on: False goes back to computing as ever.

        It counts where this module is called itself; inside another net that one's tells. A module
        that computes its own gradients, as a DataParallelTable, hands it on to those below it.

        PyTorch: ``torch.nn.Module.compile``.
        """
        flag(on, "on")
        if not self.recordable:
            for child in self.children():
                child.compile(on)
            return self
        self.compilation = None
        if on:
            from compat.nn.core.compilation import Compilation

            self.compilation = Compilation()
        return self

    def tensor_slots(self) -> Iterator[Slot]:
        """Where the tensors of its own fields are, for ``compile``."""
        return slots_in(vars(self), RESULTS)

    # The tree of modules.

    def children(self) -> list[Module]:
        """The modules directly below this one."""
        return getattr(self, "modules", None) or []

    def given_gradOutput(self) -> list[Module]:
        """What computes gradients of parameters from the gradOutput of this module.

        That is the module itself, or those of its children that get it in Torch7.
        """
        return [self]

    def named_modules(self, place: str = "") -> Iterator[tuple[str, Module]]:
        """Each module below this one, and itself last, with its place in the net.

        A place is such as errors tell: ``nn.Sequential[3] nn.Linear``.
        """
        for i, child in enumerate(self.children(), 1):
            yield from child.named_modules(f"{place}{self.typename}[{i}] ")
        yield f"{place}{self.typename}", self

    def apply(self: M, callback: Callable[[Module], Any]) -> M:
        """Call ``callback`` with this module and then with all below it."""
        callback(self)
        for child in self.children():
            child.apply(callback)
        return self

    def listModules(self) -> list[Module]:
        """This module and all below it, in the order of ``apply``."""
        return [self, *(m for child in self.children() for m in child.listModules())]

    def findModules(
        self, typename: str, container: Module | None = None
    ) -> tuple[list[Module], list[Module]]:
        """All modules of exactly the class ``typename`` ("nn.Linear"), and their containers."""
        if not isinstance(typename, str):
            raise TypeError(
                f"typename is {typename!r}; a Torch7 class name such as 'nn.Linear' is accepted"
            )
        nodes: list[Module] = []
        containers: list[Module] = []
        if self.typename == typename:
            nodes.append(self)
            containers.append(container or self)
        for child in self.children():
            found, around = child.findModules(typename, self)
            nodes += found
            containers += around
        return nodes, containers

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        """``callback(self)``, with every module below replaced by what ``callback`` returns."""
        new = callback(self)
        for i, child in enumerate(self.children()):
            self.modules[i] = child.replace(callback)  # type: ignore[attr-defined]
        return new

    def __repr__(self) -> str:
        return self.typename

    # Other forms.

    def to_torch(self) -> torch.nn.Module:
        """This net as a plain ``torch.nn.Module`` that computes the same, in both modes.

        Layers become PyTorch's own where PyTorch has them, else small modules of
        ``compat.nn.interchange.torch_layers``. Parameters and running statistics are copied; what
        is shared stays shared. The result takes batches, and lists where this net takes tables.

        Raises ValueError for a module without equivalent, with its place in the net.
        """
        return type(self).torch_converter(self)

    def t7_fields(self) -> dict[str, Any]:
        """What a Torch7 file holds of this module."""
        fields = {
            _torch7_name(name): value
            for name, value in self.__dict__.items()
            if name not in self._python_fields and not name.startswith("_pending_")
        }
        for name in _OWN_METHODS:
            if name in fields and not isinstance(fields[name], t7.LuaFunction):
                raise TypeError(
                    f"{name} of this {self.typename} was replaced by a Python function, which a "
                    f".t7 file cannot hold; del it before saving and set it again after loading"
                )
        for name in self.parameter_names:
            parameter = self.__dict__.get(name)
            if parameter is None:
                fields.pop(name, None)
            elif parameter.grad is not None:
                fields[gradient_name(name)] = parameter.grad
            elif parameter.is_floating_point():
                # Not nil, which old files have for gradients that were dropped to make them small.
                fields[gradient_name(name)] = False
        fields["_type"] = self._type
        # Torch7's kernels write into buffers of the right size as if they were contiguous, and into
        # a result as if nothing else lay there.
        trained = {name for p in self.parameter_names for name in (p, gradient_name(p))}
        for name, value in fields.items():
            if name not in trained:
                fields[name] = _contiguous(value)
        fields["output"], fields["gradInput"] = self._known_results()
        for name in self.dpnn_serialEmpty:
            if name in fields:
                fields[name] = self._empty() if isinstance(fields[name], Tensor) else []
        for item in contents(fields):
            if isinstance(item, Tensor):
                tag(item, self._type)
        return {name: value for name, value in fields.items() if value is not None}

    def _known_results(self) -> tuple[Any, Any]:
        """``output`` and ``gradInput`` for files: empty where they would have to be computed."""
        record = self.latest_record
        if record is None:
            # From a file, where tables keep their identity, or of a module's own methods.
            return _contiguous(self.output), _contiguous(self.gradInput)
        known = record.output is not None or record.plain_output is not None
        output = self.output if known else self._empty()
        # In a file None means switched off, so that one not computed is empty.
        none = record.grad_input is UNSET or record.grad_input is None
        gradInput = self._empty() if none else record.grad_input
        gradInput = None if self.stops_gradient else gradInput
        # A container may have another type than what is in it.
        inner = next((m for m in self.listModules() if m.own_tensor() is not None), self)

        def own_copy(tensor: Tensor) -> Tensor:
            new = tensor.detach().clone(memory_format=torch.contiguous_format)
            tag(new, inner.type())
            return new

        return map_tensors(own_copy, output), map_tensors(own_copy, gradInput)

    @classmethod
    def _computes(cls, name: str) -> bool:
        """Whether a field cannot be set, since it is computed when it is read."""
        found = getattr(cls, name, None)
        return isinstance(found, property) and found.fset is None

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Become the module that ``fields``, read from a Torch7 file, describe."""
        keep_in(fields)
        self.complete(fields)
        output, gradInput = fields.pop("output", UNSET), fields.pop("gradInput", None)
        if gradInput is None and not self.nil_stops_gradient:
            gradInput = UNSET
        frozen = []
        for name in self.parameter_names:
            parameter, gradient = fields.get(name), fields.pop(gradient_name(name), None)
            if gradient is False:
                frozen.append(gradient_name(name))
            elif parameter is not None and gradient is not None:
                if isinstance(gradient, Tensor) and not gradient.numel():
                    continue  # left out, to keep the file small
                if _fits(gradient, parameter):
                    parameter.grad = _of_shape(gradient, parameter.shape)
                else:
                    warnings.warn(
                        f"the file's {self.typename} has a {gradient_name(name)} that is "
                        f"{_kind(gradient)}, its {name} is {_kind(parameter)}: zeros instead",
                        stacklevel=2,
                    )
        for name, value in fields.items():
            if name not in self._python_fields and not self._computes(_python_name(name)):
                setattr(self, _python_name(name), value)
        for name in frozen:
            setattr(self, name, None)
        self._output, self.gradInput = output, gradInput


def _fits(gradient: Any, parameter: Tensor) -> bool:
    """Whether what a file has as the gradient of ``parameter`` can be that."""
    return (
        isinstance(gradient, Tensor)
        and (gradient.numel(), gradient.dtype) == (parameter.numel(), parameter.dtype)
        and gradient.device == parameter.device
    )


def _kind(value: Any) -> str:
    if not isinstance(value, Tensor):
        return given(value)
    name = tensor_type(value)
    return f"a {name} of size {tuple(value.shape)}"


def _of_shape(gradient: Tensor, shape: torch.Size) -> Tensor:
    """A gradient from a file in the shape of the parameter, which some files hold as a matrix."""
    if gradient.shape != shape and not gradient.is_contiguous():
        t7.claim(gradient.nbytes)
    return gradient.reshape(shape)


def subtract(pairs: Iterable[tuple[Tensor, Tensor | None]], rate: float) -> None:
    """Subtract ``rate`` times its gradient from each parameter, as often as it is listed."""
    moves: dict[Any, list[tuple[Tensor, Tensor]]] = {}
    for parameter, gradient in pairs:
        if gradient is not None and parameter.numel():
            place = parameter.data_ptr(), parameter.shape
            moves.setdefault(place, []).append((parameter, gradient))
    if moves:
        check_number(rate, "learningRate")
        # Of a parameter that is listed several times one after the other.
        for turn in range(max(map(len, moves.values()))):
            found = [own[turn] for own in moves.values() if turn < len(own)]
            parameters, gradients = zip(*found, strict=True)
            with torch.no_grad():
                foreach_add_(parameters, gradients, alpha=-rate)


# Module's own __init_subclass__ is not called for Module.
Module.parameter_names = ("weight", "bias")


def _contiguous(value: Any) -> Any:
    if not isinstance(value, Tensor) or value.is_contiguous():
        return value
    new = value.contiguous()
    tag(new, getattr(value, "torch7_type", ""))
    return new


def _torch7_name(name: str) -> str:
    return name[:-1] if name in ("lambda_",) else name


def _python_name(name: str) -> str:
    return "lambda_" if name == "lambda" else name
