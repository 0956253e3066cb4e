"""``nn.Module``: the protocol of every layer and container, also of a user's own."""

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
from compat.nn.core.results import Results, own_memory
from compat.tensor_types import default_type

M = TypeVar("M", bound="Module")
# Inside Module the name float is the method.
Scalar: TypeAlias = float

_MISSING: Any = object()


class Module(Trained, DpnnMethods, RecurrentMethods, Results, Filed):
    """A differentiable function with state (Torch7: ``nn.Module``).

    There are two ways to write one:

    * define Torch7's methods, ``updateOutput(input)``, ``updateGradInput(input, gradOutput)`` and
      ``accGradParameters(input, gradOutput, scale)``;
    * define only the forward computation, as ``compute(input)`` in PyTorch operations. Autograd
      computes the gradients; it sees this module and nothing around it.

    Either may be overridden in a class or set on an object at any time. Trained fields are declared
    in the class as ``weight = Parameter()``; ``weight`` and ``bias`` are declared here for all.

    Attributes:
        output, gradInput: the latest results: tensors, or lists and dicts of them. Set
            ``gradInput`` to None if it is not wanted.
        train: True in training, False in evaluation.

    Class attributes, for authors of modules:

    * ``takes``: what the input is (``compat.nn.checks.tensors``), or None where that is not known
      and errors are left as they are;
    * ``backward_both(input, gradOutput, scale)``: does the work of ``updateGradInput`` and
      ``accGradParameters`` in one kernel, and is used where neither is overridden;
    * ``pass_fields``: what forward leaves for backward and Torch7's files do not have;
    * ``keeps_gradients``: whether ``accUpdateGradParameters`` leaves the gradients of shared
      parameters as they are, as Torch7's class does;
    * ``heeds_scale``: whether ``accGradParameters`` multiplies by ``scale``, which not all of
      Torch7's classes do.

    PyTorch: ``torch.nn.Module``.

    Examples:
        >>> class Double(Module):
        ...     def compute(self, input):
        ...         return 2 * input
        >>> layer, x = Double(), torch.ones(3)
        >>> layer.forward(x).tolist(), layer.backward(x, x).tolist()
        ([2.0, 2.0, 2.0], [2.0, 2.0, 2.0])
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
    replaced_by_both: ClassVar[tuple[Any, Any] | None] = None
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
        walk_limits.explain_failures(cls)
        if "backward_both" in vars(cls):
            cls.replaced_by_both = cls.updateGradInput, cls.accGradParameters

    def compile(self: M, on: bool = True) -> M:
        """Compute ``forward`` and ``backward`` with code from PyTorch's compiler.

        Code is made when the same form of input (sizes, dtype) and state of the net (fields, mode)
        comes the second time in a row, for at most eight of them. That takes seconds, for large
        unrolled nets minutes, and on CPUs a C++ compiler. Results are equal up to rounding; random
        numbers are the same.

        These are computed without compiled code, after one warning with the reason: modules with a
        user's own methods, PyTorch's modules, decisions and indices that depend on values,
        PyTorch's random numbers, layers that change their input in place.

        After a compiled pass only the net's own ``output`` and ``gradInput`` exist: reading one of
        an inner module is an error, and ``updateGradInput`` and ``accGradParameters`` cannot be
        called singly. A clone is compiled by itself; nets that compute alike share the code. The
        setting counts where this module is called itself; inside another net, the other net's
        setting counts.

        Args:
            on: False switches compiled code off.

        PyTorch: ``torch.nn.Module.compile``.
        """
        self.compilation = type(self).compilation_class() if flag(on, "on") else None
        return self

    # The three methods.

    def compute(self, input: Any) -> Any:
        """Return the output, computed in PyTorch operations. Classes may define it."""
        raise TypeError(f"{self.typename} defines neither compute(input) nor updateOutput(input)")

    def updateOutput(self, input: Any) -> Any:
        """Compute ``output`` for ``input``, store it and return it.

        Args:
            input: a tensor, or a list or dict of tensors, as the class takes it.

        Returns:
            ``output``.
        """
        if type(self).compute is Module.compute:
            return self.output
        self._graph = graph = Graph(self.compute, input, self.trained_parameters())
        return self.set_output(own_memory(graph.result(), input, graph.parameters))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Compute ``gradInput`` for the latest ``updateOutput`` of ``input`` and return it.

        Args:
            input: the input of that ``updateOutput``.
            gradOutput: the gradient of the output, of its form.

        Returns:
            ``gradInput``, of the form of the input; None where the field was set to None.
        """
        if type(self).compute is Module.compute:
            return self.gradInput
        return self._differentiate(input, gradOutput, None)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add ``scale`` times the gradients of the parameters to their gradient tensors.

        Args:
            input: the input of the latest ``updateOutput``.
            gradOutput: the gradient of the output, of its form.
            scale: a factor for what is added.
        """
        if type(self).compute is not Module.compute:
            self._differentiate(input, gradOutput, scale, to_input=False)

    def backward_both(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Do what ``updateGradInput`` and ``accGradParameters`` do; return ``gradInput``."""
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
        return self.set_gradInput(own_memory(gradInput, gradOutput)) if to_input else None

    def forward(self, input: Any) -> Any:
        """Compute the output; the same as ``updateOutput``.

        Args:
            input: a tensor, or a list or dict of tensors, as the module takes it.

        Returns:
            ``output``.
        """
        input = without_graph(input)
        try:
            if self.compilation is not None and self.compilation.forward(self, input):
                return self.output
            return self.updateOutput(input)
        except Exception as error:
            fail(error, self, "updateOutput", input)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Compute ``gradInput`` and accumulate the gradients of the parameters.

        Args:
            input: the input of the latest ``forward``.
            gradOutput: the gradient of the output, of its form.
            scale: a factor for what is added to the parameters' gradients, not for ``gradInput``.

        Returns:
            ``gradInput``.
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
        replaced_by_both = cls.replaced_by_both
        try:
            if (
                replaced_by_both is not None
                and cls.updateGradInput is replaced_by_both[0]
                and cls.accGradParameters is replaced_by_both[1]
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
        """Accumulate the gradients of the parameters, without the gradient of the input."""
        self.backward(input, gradOutput, scale)

    def run(self, input: Any) -> Any:
        """Return the output as part of the PyTorch graph of ``input``, for use in a ``compute``.

        Backward through the graph goes through this module and adds to the gradients of its
        parameters.

        Args:
            input: a tensor, or a list or dict of tensors, that may be part of a graph.

        Raises:
            RuntimeError: in backward, if the module has computed forward again in between.
        """
        return differentiated.in_graph(self, input)

    def as_autograd(self) -> Differentiable:
        """Return this net as a ``torch.nn.Module`` that can be part of a PyTorch graph."""
        return Differentiable(self)

    def __call__(self, input: Any = _MISSING, gradOutput: Any = None) -> Any:
        """Call ``forward``; with ``gradOutput`` also ``backward``, and return both results.

        With graph nodes as arguments, or none, return a ``Node`` of this module (Torch7's nngraph).
        """
        if input is _MISSING or symbolic(input):
            return Node.of(self, None if input is _MISSING else input)
        self.forward(input)
        if gradOutput is None:
            return self.output
        self.backward(input, gradOutput)
        return self.output, self.gradInput

    def __neg__(self) -> Any:
        """Return a node without inputs, as ``-nn.Identity()`` in nngraph."""
        return self()

    def __rsub__(self, nodes: Any) -> Any:
        """Return a node of this module, as ``[x, y] - nn.CAddTable()`` in nngraph."""
        return self(nodes) if symbolic(nodes) else NotImplemented

    # Updates without gradients, and copies. What else is done to parameters: ``Trained``.

    def backwardUpdate(self, input: Any, gradOutput: Any, lr: Scalar) -> Any:
        """Call ``updateGradInput``, then ``accUpdateGradParameters``. Return ``gradInput``.

        Args:
            input: the input of the latest ``forward``.
            gradOutput: the gradient of the output, of its form.
            lr: the learning rate.
        """
        self.updateGradInput(input, gradOutput)
        self.accUpdateGradParameters(input, gradOutput, lr)
        return self.gradInput

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Subtract ``lr`` times the gradients of this batch from the parameters.

        The gradient tensors keep their values. If the module shares parameters, its gradient
        tensors hold this batch's gradients afterwards, unless the class sets ``keeps_gradients``.

        Args:
            input: the input of the latest ``forward``.
            gradOutput: the gradient of the output, of its form.
            lr: the learning rate.
        """
        check_number(lr, "lr")
        if self.shared and not self.keeps_gradients:
            self.sharedAccUpdateGradParameters(input, gradOutput, lr)
        else:
            self.defaultAccUpdateGradParameters(input, gradOutput, lr)

    def defaultAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Do ``accUpdateGradParameters`` by adding to the parameters directly."""
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
        """Do ``accUpdateGradParameters`` through the gradient tensors, which are zeroed first."""
        if self.parameters()[0]:
            self.zeroGradParameters()
            self.accGradParameters(input, gradOutput, 1)
            self.updateParameters(lr)

    def clone(self: M, *names: str) -> M:
        """Return a deep copy; the named fields (``"weight", "bias"``) are shared with it.

        Args:
            names: fields that the copy shares with the original, at every depth.

        Returns:
            The copy.

        Examples:
            >>> from compat import nn
            >>> layer = nn.Linear(2, 2)
            >>> tied, own = layer.clone("weight", "bias"), layer.clone()
            >>> _ = layer.weight.fill_(3)
            >>> tied.weight.equal(layer.weight), own.weight.equal(layer.weight)
            (True, False)
        """
        clone = copy.deepcopy(self)
        return clone.share(self, *names) if names else clone

    def reset(self: M, stdv: Scalar | None = None) -> M:
        """Draw new parameters.

        Args:
            stdv: the standard deviation of the uniform distribution from ``-stdv * 3**0.5`` to
                ``stdv * 3**0.5``; default: the class's own.
        """
        return self

    def convert(self, conversion: Conversion, name: str) -> None:
        self.__dict__.pop("_graph", None)
        super().convert(conversion, name)

    def training(self: M) -> M:
        """Switch to training mode: noise is drawn, running statistics are updated."""
        self.set_train(True)
        return self

    def evaluate(self: M) -> M:
        """Switch to evaluation mode: no noise, fixed statistics."""
        self.set_train(False)
        return self

    def set_train(self, train: bool) -> None:
        """Set the mode; classes with more to do override this method."""
        self.train = train

    def to_torch(self) -> torch.nn.Module:
        """Return this net as a plain ``torch.nn.Module`` that computes the same in both modes.

        Layers become PyTorch's own where PyTorch has them, else small modules of
        ``compat.nn.interchange``. Parameters and running statistics are copied; shared ones stay
        shared. The result takes batches, and lists where this net takes tables.

        Raises:
            ValueError: a module has no equivalent; the message names its place in the net.
        """
        return type(self).torch_converter(self)

    def __repr__(self) -> str:
        return self.typename


# Module's own __init_subclass__ is not called for Module.
Module.parameter_names = ("weight", "bias")
Module.replaced_by_both = Module.updateGradInput, Module.accGradParameters
for _base in Module.__mro__[:-1]:
    walk_limits.explain_failures(_base)
