"""``nn.Module``: the contract that every layer, container and user's own layer keeps."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, TypeVar

import torch
from torch import Tensor

from compat.checks import check_number, checked_scale, flag
from compat.nn.checks.error_place import fail
from compat.nn.core import differentiated, walk_limits
from compat.nn.core.conversion import Conversion
from compat.nn.core.differentiated import Differentiable, Graph, add_scaled, without_graph
from compat.nn.core.dpnn import DpnnMethods
from compat.nn.core.files import Filed
from compat.nn.core.node import Node, symbolic
from compat.nn.core.parameter import Parameter, Trained
from compat.nn.core.recurrent_methods import RecurrentMethods
from compat.nn.core.results import Results, apart
from compat.tensor_types import default_type

M = TypeVar("M", bound="Module")
# Inside Module the name float is the method.
Scalar: TypeAlias = float

_MISSING: Any = object()


class Module(Trained, DpnnMethods, RecurrentMethods, Results, Filed):
    """A differentiable function with state (Torch7: ``nn.Module``).

    Two ways to write one:

    * Torch7's methods, ``updateOutput(input)``, ``updateGradInput(input, gradOutput)`` and
      ``accGradParameters(input, gradOutput, scale)``;
    * the forward computation alone, as ``compute(input)`` in PyTorch operations; gradients follow
      from autograd, which sees this module and nothing around it.

    Either may be overridden in a class or set on an object at any time.

    Trained fields are declared in the class as ``weight = Parameter()``; ``weight`` and ``bias``
    are declared here for all.

    Fields: ``output`` and ``gradInput`` (tensors, or lists and dicts of them) hold the latest
    results; ``train`` tells training from evaluation. Setting ``gradInput`` to None means that it
    is not wanted.

    Of a class, for who writes one: ``takes``, what its input is (``compat.nn.checks.tensors``), or
    None where that is not known and errors are left as they are; ``backward_both(input, gradOutput,
    scale)``, which does what ``updateGradInput`` and ``accGradParameters`` do in one kernel, and
    serves where neither is overridden; ``pass_fields``, what forward leaves for backward and
    Torch7's files do not have; ``keeps_gradients``, whether ``accUpdateGradParameters`` leaves the
    gradients of shared parameters as they are, as Torch7's class does; ``heeds_scale``, whether
    ``accGradParameters`` multiplies by it, which not all classes of Torch7 do.

    PyTorch: ``torch.nn.Module``.
    """

    weight = Parameter()
    bias = Parameter()
    train: bool = True
    keeps_gradients: ClassVar[bool] = False
    heeds_scale: ClassVar[bool] = True
    transient_fields: ClassVar[tuple[str, ...]] = ("_graph", "_call")
    # Set by `compat.nn.interchange`, which knows all layers.
    torch_converter: ClassVar[Callable[[Any], torch.nn.Module]]
    # The two methods that ``backward_both`` stands for.
    halves: ClassVar[tuple[Any, Any] | None] = None
    _graph: Graph | None = None
    # Set by `compat.nn.compiled`, which knows how passes become code.
    compilation_class: ClassVar[Callable[[], Any]]
    compilation: Any = None

    def __init__(self) -> None:
        self._type = default_type()
        self.begin_results()

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
        walk_limits.tell_ends(cls)
        if "backward_both" in vars(cls):
            cls.halves = cls.updateGradInput, cls.accGradParameters

    def compile(self: M, on: bool = True) -> M:
        """Compute ``forward`` and ``backward`` through code that PyTorch's compiler makes.

        Code is made for a form of input (sizes, type) and a state of the net (fields, training or
        evaluation) when it comes the second time in a row, for eight at most; that takes seconds,
        for large unrolled nets minutes. It needs a C++ compiler on CPUs. What cannot be compiled
        goes the plain way, after one warning that says why: modules with methods of somebody's own,
        PyTorch's modules, decisions and places that depend on values, PyTorch's random numbers,
        layers that change the input in place.

        Results are the same to rounding, random numbers the same. Only the net's own ``output`` and
        ``gradInput`` are there after a compiled pass: reading one inside is an error, and the
        halves of ``backward`` cannot be called singly. A clone is compiled by itself; nets that
        compute alike share the code.

        Args:
            on: False goes back to the plain way.

        It counts where this module is called itself; inside another net that one's tells.

        PyTorch: ``torch.nn.Module.compile``.
        """
        self.compilation = type(self).compilation_class() if flag(on, "on") else None
        return self

    # The three methods.

    def compute(self, input: Any) -> Any:
        """Return the forward computation, in PyTorch operations, of classes that state it so."""
        raise TypeError(f"{self.typename} defines neither compute(input) nor updateOutput(input)")

    def updateOutput(self, input: Any) -> Any:
        """Compute and return ``output``."""
        if type(self).compute is Module.compute:
            return self.output
        self._graph = graph = Graph(self.compute, input, self.trained_parameters())
        return self.set_output(apart(graph.result(), input, graph.parameters))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Compute and return ``gradInput`` for the latest ``updateOutput`` of ``input``."""
        if type(self).compute is Module.compute:
            return self.gradInput
        return self._differentiate(input, gradOutput, None)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add ``scale`` times the gradients of the parameters to what they hold."""
        if type(self).compute is not Module.compute:
            self._differentiate(input, gradOutput, scale, to_input=False)

    def backward_both(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Return what ``updateGradInput`` and ``accGradParameters`` do, in one pass."""
        if type(self).compute is not Module.compute:
            self._differentiate(input, gradOutput, scale)

    def _differentiate(
        self, input: Any, gradOutput: Any, scale: Scalar | None, to_input: bool = True
    ) -> Any:
        graph = self._graph
        if graph is None or not graph.is_of(input):
            # As in Torch7 backward goes with the input that it is given.
            graph = self._graph = Graph(self.compute, input, self.trained_parameters())
        to_input = to_input and self.gradInput is not None
        gradInput, found = graph.gradients(gradOutput, to_input, scale)
        if scale is not None:
            add_scaled(graph.parameters, found, scale)
        return self.set_gradInput(apart(gradInput, gradOutput)) if to_input else None

    def forward(self, input: Any) -> Any:
        """``updateOutput``."""
        input = without_graph(input)
        try:
            if self.compilation is not None and self.compilation.forward(self, input):
                return self.output
            return self.updateOutput(input)
        except Exception as error:
            fail(error, self, "updateOutput", input)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """``updateGradInput``, then ``accGradParameters`` with ``scale``. Returns ``gradInput``.

        ``scale`` multiplies what is added to the parameters' gradients, not ``gradInput``.
        """
        if type(input) is not Tensor or input.requires_grad:
            input = without_graph(input)
        if type(gradOutput) is not Tensor or gradOutput.requires_grad:
            gradOutput = without_graph(gradOutput)
        if type(scale) is not int:
            scale = checked_scale(scale)
        code = self.compilation
        if code is not None and code.backward(self, input, gradOutput, scale):
            return self.gradInput
        cls, own = type(self), self.__dict__
        halves = cls.halves
        try:
            if (
                halves is not None
                and cls.updateGradInput is halves[0]
                and cls.accGradParameters is halves[1]
                and "updateGradInput" not in own
                and "accGradParameters" not in own
            ):
                self.backward_both(input, gradOutput, scale)
            else:
                self.updateGradInput(input, gradOutput)
                self.accGradParameters(input, gradOutput, scale)
        except Exception as error:
            fail(error, self, "backward", input, gradOutput)
        return self.gradInput

    backward.__dict__["compiles"] = True

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """``backward`` for who does not want the gradient of the input."""
        self.backward(input, gradOutput, scale)

    def run(self, input: Any) -> Any:
        """Return the output as part of the PyTorch graph that ``input`` is in.

        For a ``compute`` that uses modules: going back through the graph goes back through this
        module, and adds to the gradients of its parameters. Raises RuntimeError where it has gone
        forward again in between.
        """
        return differentiated.in_graph(self, input)

    def as_autograd(self) -> Differentiable:
        """This net as a ``torch.nn.Module`` that takes part in a PyTorch graph."""
        return Differentiable(self)

    def __call__(self, input: Any = _MISSING, gradOutput: Any = None) -> Any:
        """``forward``; with ``gradOutput`` also ``backward``, returning both results.

        With nodes of a graph, or nothing, a ``Node`` of this module (Torch7's package nngraph).
        """
        if input is _MISSING or symbolic(input):
            return Node.of(self, None if input is _MISSING else input)
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

    # Updates without gradients, and copies. What else is done to parameters: ``Trained``.

    def backwardUpdate(self, input: Any, gradOutput: Any, lr: Scalar) -> Any:
        """``updateGradInput``, then ``accUpdateGradParameters``. Returns ``gradInput``."""
        self.updateGradInput(input, gradOutput)
        self.accUpdateGradParameters(input, gradOutput, lr)
        return self.gradInput

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Move the parameters by ``-lr`` times the gradients of this batch alone.

        What the gradient tensors hold stays as it is. Those of a module that shares parameters hold
        the gradients of this batch afterwards, unless the class ``keeps_gradients``.
        """
        check_number(lr, "lr")
        if self.shared and not self.keeps_gradients:
            self.sharedAccUpdateGradParameters(input, gradOutput, lr)
        else:
            self.defaultAccUpdateGradParameters(input, gradOutput, lr)

    def defaultAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """``accUpdateGradParameters``, adding straight to the parameters."""
        trained = zip(*self.parameters(), strict=True)
        parameters = list(dict.fromkeys(p for p, g in trained if g is not None))
        kept = [p.grad for p in parameters]
        for parameter in parameters:
            parameter.grad = parameter.detach()
        try:
            self.accGradParameters(input, gradOutput, -lr)
        finally:
            for parameter, gradient in zip(parameters, kept, strict=True):
                parameter.grad = gradient

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """As ``accUpdateGradParameters``, through the gradient tensors, which are zeroed first."""
        if self.parameters()[0]:
            self.zeroGradParameters()
            self.accGradParameters(input, gradOutput, 1)
            self.updateParameters(lr)

    def clone(self: M, *names: str) -> M:
        """Return a deep copy; the fields named (``"weight", "bias"``) are shared with the
        original.
        """
        clone = copy.deepcopy(self)
        return clone.share(self, *names) if names else clone

    def reset(self: M, stdv: Scalar | None = None) -> M:
        """Draw the parameters anew, from ±stdv·√3 or from the class's own range."""
        return self

    def convert(self, conversion: Conversion, name: str) -> None:
        self.__dict__.pop("_graph", None)
        super().convert(conversion, name)

    def training(self: M) -> M:
        """Set the mode in which noise is drawn and statistics are gathered."""
        self.set_train(True)
        return self

    def evaluate(self: M) -> M:
        """Set the mode in which the net is used."""
        self.set_train(False)
        return self

    def set_train(self, train: bool) -> None:
        """Set the mode; classes with more to do then override it."""
        self.train = train

    def to_torch(self) -> torch.nn.Module:
        """This net as a plain ``torch.nn.Module`` that computes the same, in both modes.

        Layers become PyTorch's own where PyTorch has them, else small modules of
        ``compat.nn.interchange``. Parameters and running statistics are copied; what is shared
        stays shared. The result takes batches, and lists where this net takes tables.

        Raises:
            ValueError: a module without equivalent, with its place in the net.
        """
        return type(self).torch_converter(self)

    def __repr__(self) -> str:
        return self.typename


# Module's own __init_subclass__ is not called for Module.
Module.parameter_names = ("weight", "bias")
Module.halves = Module.updateGradInput, Module.accGradParameters
for _base in Module.__mro__[:-1]:
    walk_limits.tell_ends(_base)
