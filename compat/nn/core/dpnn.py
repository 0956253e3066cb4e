"""The methods that Torch7's package dpnn adds to every module.

The methods for training change gradients between backward and the update. A module may have its own
settings: its field ``maxOutNorm``, ``cutoffNorm``, ``wdFactor`` or ``momFactor`` overrides the
argument, for the module and its children.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import torch
from torch import Tensor

from compat import random
from compat.checks import check_tensor, number, whole, wrong_type

if TYPE_CHECKING:
    from compat.nn.core.module import Module

D = TypeVar("D", bound="DpnnMethods")
# Inside Module the name float is a method.
Scalar = float

# What a pass and momentum leave behind.


class Batched:
    """dpnn's methods of modules and criterions for inputs that may be a single sample."""

    # Whether the latest input was one.
    dpnn_online: bool = False

    def toBatch(self, tensor: Tensor, nDim: int, batchDim: int = 1) -> Tensor:
        """Return ``tensor``, as a batch of one at ``batchDim`` if it has ``nDim`` dimensions."""
        batchDim = 1 if batchDim is None else whole(batchDim, "batchDim", 1)
        self.dpnn_online = check_tensor(tensor, "tensor").dim() == nDim
        return tensor.unsqueeze(batchDim - 1) if self.dpnn_online else tensor

    def fromBatch(self, tensor: Tensor, batchDim: int = 1) -> Tensor:
        """Undo the latest ``toBatch``: return the sample of a batch of one if that made one."""
        batchDim = 1 if batchDim is None else whole(batchDim, "batchDim", 1)
        return tensor.squeeze(batchDim - 1) if self.dpnn_online else tensor


class DpnnMethods(Batched):
    """dpnn's methods of modules.

    Class attributes: ``shared_by_clones``, fields besides the trained ones that ``sharedClone``
    shares; ``dpnn_stepclone``, whether a clone for another time step is the module itself;
    ``dpnn_serialEmpty``, fields that are empty in files.
    """

    shared_by_clones: ClassVar[tuple[str, ...]] = ()
    dpnn_stepclone: bool = False
    dpnn_serialEmpty: list[str] = []
    dpnn_parameters: ClassVar[list[str]] = ["weight", "bias"]
    dpnn_gradParameters: ClassVar[list[str]] = ["gradWeight", "gradBias"]
    dpnn_mediumEmpty: ClassVar[list[str]] = ["output", "gradInput", "momGradParams", "dpnn_input"]
    dpnn_lightEmpty: ClassVar[list[str]] = dpnn_gradParameters
    momGradParams: list[Tensor] | None = None
    # Set by `compat.nn.containers.serial`.
    serial_decorator: ClassVar[Any]

    # Copies.

    def sharedClone(
        self: D, shareParams: bool = True, shareGradParams: bool = True, stepClone: bool = False
    ) -> D:
        """Return a deep copy that trains the same parameters.

        Args:
            shareParams: share the parameters, and the running statistics of batch normalisations.
            shareGradParams: share their gradients.
            stepClone: use the same recurrent modules in both instead of copying them.
        """
        shareParams, shareGradParams = (x is None or x for x in (shareParams, shareGradParams))
        modules = _module(self).listModules()
        kept: list[Any] = []
        if stepClone:
            kept += _module(self).shared_by_steps()
        if shareParams:
            names = [(module, name) for module in modules for name in module.shared_by_clones]
            kept += [getattr(module, name) for module, name in names if hasattr(module, name)]
        parameters, gradients = _module(self).parameters()
        if shareParams and shareGradParams:
            kept += [*parameters, *gradients]
        clone = copy.deepcopy(self, {id(thing): thing for thing in kept})
        if shareParams != shareGradParams:
            for own, other in zip(_module(clone).parameters()[0], parameters, strict=True):
                if shareParams:
                    own.data = other.detach()
                else:
                    own.grad = other.grad
        return clone

    # Files.

    def serialMode(self: D, empty: Iterable[str]) -> D:
        """Leave the fields of these names empty in files, in all modules of this net.

        Differs from Torch7: this works without ``nn.Serial``, too.
        """
        if isinstance(empty, str):
            raise wrong_type(empty, "empty", "a list of names")
        names = list(empty)
        for module in _module(self).listModules():
            module.dpnn_serialEmpty = list(names)
        return self

    def heavySerial(self: D) -> D:
        """Save all fields in files."""
        return self.serialMode([])

    def mediumSerial(self: D) -> D:
        """Leave ``output``, ``gradInput`` and the momentum of gradients out of files."""
        return self._leave_out("dpnn_mediumEmpty")

    def lightSerial(self: D) -> D:
        """Leave the gradients out of files as well; they are zero after loading."""
        return self._leave_out("dpnn_mediumEmpty", "dpnn_lightEmpty")

    def _leave_out(self: D, *kinds: str) -> D:
        for module in _module(self).listModules():
            module.dpnn_serialEmpty = [name for kind in kinds for name in getattr(module, kind)]
        return self

    def Serial(self, tensortype: str | None = None) -> Any:
        """Return this module in an ``nn.Serial``."""
        return type(self).serial_decorator(self, tensortype)

    # Training.

    def maxParamNorm(
        self, maxOutNorm: Scalar | None = None, maxInNorm: Scalar | None = None
    ) -> None:
        """Bound the norms of the rows of each weight, and of its columns.

        Parameters of one dimension are not changed. As in Torch7, settings of child modules are
        ignored if this module has none.

        Args:
            maxOutNorm: for the weights of one output: the slices along the first dimension.
            maxInNorm: for the weights of one input: the slices along the last dimension.
        """
        maxOutNorm = _setting(self, "maxOutNorm", maxOutNorm)
        maxInNorm = _setting(self, "maxInNorm", maxInNorm)
        if maxOutNorm is None and maxInNorm is None:
            return
        for module in _module(self).children():
            module.maxParamNorm(maxOutNorm, maxInNorm)
        if not _module(self).children():
            for parameter in _distinct(_module(self).parameters()[0]):
                if parameter.dim() > 1:
                    renormalise(parameter, 0, maxOutNorm)
                    renormalise(parameter, -1, maxInNorm)

    def gradParamClip(self, cutoffNorm: Scalar, moduleLocal: bool = False) -> float | None:
        """Scale the gradients down so that their norm is at most ``cutoffNorm``.

        Args:
            cutoffNorm: the bound; 0 or less changes nothing.
            moduleLocal: bound the norm of each module by itself; a field of this name has
                precedence.

        Returns:
            The norm before scaling.
        """
        cutoffNorm = number(_setting(self, "cutoffNorm", cutoffNorm), "cutoffNorm")
        if cutoffNorm <= 0:
            return None
        moduleLocal = _setting(self, "moduleLocal", moduleLocal)
        children = _module(self).children()
        if moduleLocal and children:
            norms = [module.gradParamClip(cutoffNorm, moduleLocal) for module in children]
            return math.sqrt(sum(norm**2 for norm in norms if norm is not None))
        gradients = [g for g in _module(self).parameters()[1] if g is not None]
        squares = [torch.linalg.vector_norm(g, dtype=torch.float64).item() ** 2 for g in gradients]
        norm = math.sqrt(sum(squares))
        if norm > cutoffNorm:
            for gradient in _distinct(gradients):
                gradient.mul_(cutoffNorm / norm)
        return norm

    def weightDecay(self, wdFactor: Scalar, wdMinDim: int = 2) -> None:
        """Add ``wdFactor`` times each parameter of at least ``wdMinDim`` dims to its gradient."""
        wdFactor = number(_setting(self, "wdFactor", wdFactor), "wdFactor")
        wdMinDim = _setting(self, "wdMinDim", 2 if wdMinDim is None else wdMinDim)
        if wdFactor <= 0:
            return
        for module in _module(self).children():
            module.weightDecay(wdFactor, wdMinDim)
        if not _module(self).children():
            for parameter, gradient in zip(*_module(self).parameters(), strict=True):
                if parameter.dim() >= wdMinDim and gradient is not None:
                    gradient.add_(parameter.detach(), alpha=wdFactor)

    def updateGradParameters(
        self, momFactor: Scalar, momDamp: Scalar | None = None, momNesterov: bool = False
    ) -> None:
        """Replace each gradient by its running mean, which each module keeps in ``momGradParams``.

        Args:
            momFactor: the share of the mean that is kept; 0 or less changes nothing.
            momDamp: 1 minus the factor of the gradient; default: ``momFactor``.
            momNesterov: use the gradient plus ``momFactor`` times the mean instead.
        """
        momFactor = number(_setting(self, "momFactor", momFactor), "momFactor")
        if momFactor <= 0:
            return
        momDamp = _setting(self, "momDamp", momDamp)
        momNesterov = _setting(self, "momNesterov", momNesterov)
        for module in _module(self).children():
            module.updateGradParameters(momFactor, momDamp, momNesterov)
        if _module(self).children():
            return
        gradients = [g for g in _module(self).parameters()[1] if g is not None]
        damp = momFactor if momDamp is None else momDamp
        for mean, gradient in zip(self.momentumGradParameters() or [], gradients, strict=True):
            mean.mul_(momFactor).add_(gradient, alpha=1 - damp)
            if momNesterov:
                gradient.add_(mean, alpha=momFactor)
            else:
                gradient.copy_(mean)

    def momentumGradParameters(self) -> list[Tensor] | None:
        """Return the running means of the gradients, which the first call makes; None without."""
        if not self.momGradParams:
            gradients = [g for g in _module(self).parameters()[1] if g is not None]
            self.momGradParams = [g.clone() for g in gradients] or None
        return self.momGradParams

    def checkParameters(self) -> None:
        """Raise ValueError if a parameter is NaN."""
        for i, parameter in enumerate(_module(self).parameters()[0], 1):
            if bool(parameter.isnan().any()):
                raise ValueError(f"NaN Error for param at index {i}")

    def dontBackward(self: D) -> D:
        """Switch off backward in this module: it returns no gradInput and adds to no gradient.

        A net with such a module cannot be saved, since its methods are replaced.
        """
        for name in ("backward", "updateGradInput", "accGradParameters", "accUpdateGradParameters"):
            setattr(self, name, _nothing)
        return self

    def reinforce(self, reward: Any) -> None:
        """Give the reward of the latest draws to all ``nn.Reinforce`` in this net."""
        for module in _module(self).children():
            module.reinforce(reward)

    # For those who write modules.

    def sparseParameters(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return ``parameters()``."""
        return _module(self).parameters()

    def contiguousInput(self, input: Tensor, backward: bool = False) -> Tensor:
        """Return ``input`` in contiguous memory."""
        return input.contiguous()

    def outside(self, insize: Any) -> torch.Size:
        """Return the size of the output for a random input of size ``insize``."""
        output = _module(self).forward(random.randn(*insize))
        return torch.Size(output.size())

    def accept(self, visitor: Any) -> None:
        """Call ``visitor.visit`` with this module."""
        visitor.visit(self)


def _module(thing: Any) -> Module:
    return cast("Module", thing)


def _setting(module: Any, name: str, given: Any) -> Any:
    """Return a module's own setting if it has one, else ``given``."""
    own = getattr(module, name, None)
    return given if own is None else own


def _distinct(tensors: Iterable[Tensor]) -> Iterable[Tensor]:
    return {id(tensor): tensor for tensor in tensors}.values()


def renormalise(weight: Tensor, dim: int, bound: Scalar | None) -> None:
    """Scale the slices of ``weight`` along ``dim`` to a norm of at most ``bound``, if any."""
    if bound is not None and number(bound, "bound") > 0:
        with torch.no_grad():
            weight.renorm_(2, dim % weight.dim(), bound)


def _nothing(*arguments: Any) -> None:
    """Do nothing: replaces a method of backward."""
