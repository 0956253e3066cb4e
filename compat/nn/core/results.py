"""Store ``output`` and ``gradInput`` of modules and criterions.

Python users expect a new tensor from every pass; Lua scripts hold Torch7's buffers, which the next
pass overwrites. Layers pass their results to ``set_output`` and ``set_gradInput``; these decide
which of the two happens.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from compat.hints import UnknownName, suggestion
from compat.nn.checks.arguments import PYTORCH_NAMES
from compat.nn.core.convertible import Convertible
from compat.nn.core.pytorch_names import METHODS
from compat.nn.core.tree import Tree
from compat.storage_changes import moved
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import storage_identity

R = TypeVar("R", bound="Results")
_MISSING: Any = object()


class _BufferReuse:
    """The process-wide setting whether passes overwrite the tensors of earlier passes."""

    # Process-wide, because nets and criterions pass their buffers to each other.
    on = False


buffer_reuse = _BufferReuse()


def reuse_buffers(on: bool = True) -> bool:
    """Let each pass write its results into the tensors of the pass before, as Torch7 does.

    A result that a program kept then shows the numbers of the latest pass. The setting holds for
    all nets of the process.

    Args:
        on: False, the default state, gives new tensors in every pass.

    Returns:
        The setting before.
    """
    if not isinstance(on, bool):
        raise TypeError(f"on is {on!r}; True or False is accepted")
    before, buffer_reuse.on = buffer_reuse.on, on
    return before


def copy_to_buffer(buffer: Any, value: Any) -> Any:
    """Copy ``value``, tensors with memory of their own, into ``buffer`` if possible.

    Returns:
        The buffer, resized if need be, or ``value`` if there is no buffer of its type.
    """
    if isinstance(value, Tensor):
        if not value.dim():
            value = value.reshape(1)  # Torch7 has no tensors without dimensions
        # A kernel that wrote into the buffer itself has done the work.
        if not isinstance(buffer, Tensor) or buffer is value:
            return value
        if buffer.dtype != value.dtype or buffer.device != value.device:
            return value
        if value.is_sparse or buffer.is_sparse:
            return value
        if buffer.shape != value.shape:
            # Memory of a file or of a NumPy array cannot grow.
            if not buffer.untyped_storage().resizable():
                return value
            # A resize may exchange the memory, which Lua's FFI has by address: the listeners must
            # hear of it.
            buffer.resize_(value.shape)
            moved([buffer])
        elif 0 in buffer.stride() and not buffer.is_contiguous():
            return value  # an expanded tensor has no place for its numbers
        return buffer.copy_(value)
    if isinstance(value, list) and isinstance(buffer, list):
        known = len(buffer)
        buffer[:] = [
            copy_to_buffer(buffer[i] if i < known else None, v) for i, v in enumerate(value)
        ]
        return buffer
    return value


def own_memory(value: Any, *others: Any) -> Any:
    """Return ``value``, with copies of tensors that lie in memory of ``others``.

    The value becomes a buffer that the next pass overwrites; the others must not be overwritten.
    Without reuse of buffers nothing is copied.
    """
    if not buffer_reuse.on:
        return value
    # By storage, not by tensor: a view of an input would be overwritten with the buffer, too.
    taken = {storage_identity(tensor) for tensor in tensors(others)}
    return map_tensors(lambda t: t.clone() if storage_identity(t) in taken else t, value)


def view_in_buffer(buffer: Any, value: Any) -> Any:
    """Make ``buffer`` a view of ``value``, which belongs to another tensor, if possible.

    Returns:
        The buffer, or ``value`` if there is no buffer of its type. A table gets the entries of
        ``value`` themselves.
    """
    if isinstance(value, list) and isinstance(buffer, list):
        buffer[:] = value
        return buffer
    if not isinstance(buffer, Tensor) or not isinstance(value, Tensor) or buffer is value:
        return value
    if buffer.dtype != value.dtype or buffer.device != value.device or value.is_sparse:
        return value
    if not value.dim():
        value = value.reshape(1)
    if (
        buffer.data_ptr() != value.data_ptr()
        or buffer.shape != value.shape
        or buffer.stride() != value.stride()
    ):
        # Only where something differs: a change of memory costs every Lua runtime a look at the
        # tensor.
        buffer.set_(value)
        moved([buffer])
    return buffer


def cleared(value: Any, empty: Tensor, is_of_others: bool) -> Any:
    """Return what replaces a result that is cleared: ``empty``, or an empty table.

    A buffer that is reused stays, without its memory, so that every reference to it sees the
    change.
    """
    if isinstance(value, (list, tuple, dict)):
        return {} if isinstance(value, dict) else []
    if not isinstance(value, Tensor):
        return empty
    if not buffer_reuse.on or is_of_others or value.is_sparse:
        return empty
    # In place: Lua variables that hold the buffer see it empty, as in Torch7.
    value.set_()  # type: ignore[call-overload]
    moved([value])
    return value


class Results(Tree, Convertible, abstract=True):
    """Stores ``output`` and ``gradInput`` of a module, frees them, or reuses them.

    Attributes:
        table_fields: on the class, the results that are tables. They are empty before the first
            pass.
        of_pairs: on the class, whether gradInput is a table of two empty tensors before it.
        passes_on: on the class, whether its results are tensors of other modules. ``clearState``
            does not change those.
        keep_results: the setting of ``keepResults``.
    """

    output: Any
    gradInput: Any
    keep_results: bool | None = None
    table_fields: ClassVar[tuple[str, ...]] = ()
    of_pairs: ClassVar[bool] = False
    passes_on: ClassVar[bool] = False

    def begin_results(self) -> None:
        """Set the results of a new module."""
        for name in ("output", "gradInput"):
            setattr(self, name, self._before_passes(name))

    def _before_passes(self, name: str) -> Any:
        if name == "gradInput" and self.of_pairs:
            return [self._empty(), self._empty()]
        return [] if name in self.table_fields else self._empty()

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there: results of a class whose __init__ does not call this
        # one's, which works, too, as in Lua, and those that lean mode has freed: until there is an
        # output again, of the next forward, reading them is an error.
        if name != "output" and name != "gradInput":
            raise UnknownName(
                f"{type(self).__name__} has no field or method {name!r}", lambda: self._hint(name)
            )
        if "_freed" in self.__dict__ and "output" not in self.__dict__:
            if self.__dict__["_freed"] == "compiled":
                why = "is not there after a compiled pass of the net; its compile(False) keeps it"
            else:
                why = "was freed when the net went back; keepResults(True) keeps it"
            raise RuntimeError(f"{name} of this {self.typename} {why}")
        value = self.__dict__[name] = self._before_passes(name)
        return value

    def _hint(self, name: str) -> str:
        if name in self.pass_fields:
            return "; a forward pass sets it"
        if name in METHODS:
            return f": {METHODS[name]}"
        fields = [each for each in PYTORCH_NAMES.get(name, ()) if each in self.__dict__]
        return f": it is {' and '.join(fields)} here" if fields else suggestion(name, dir(self))

    def set_output(self, value: Any) -> Any:
        """Store ``value``, which has memory of its own, as the output; return what holds it now."""
        if buffer_reuse.on:
            value = copy_to_buffer(self.__dict__.get("output"), value)
        self.output = value
        return value

    def set_output_view(self, value: Any) -> Any:
        """Store ``value``, which lies in other memory, as the output; return what holds it now."""
        if buffer_reuse.on:
            value = view_in_buffer(self.__dict__.get("output"), value)
        self.output = value
        return value

    def set_gradInput_view(self, value: Any) -> Any:
        """Store ``value``, which lies in other memory, as the gradInput, unless that is None."""
        if self.gradInput is None:
            return None
        if buffer_reuse.on:
            value = view_in_buffer(self.gradInput, value)
        self.gradInput = value
        return value

    def set_gradInput(self, value: Any) -> Any:
        """Store ``value``, which has memory of its own, as the gradInput, unless that is None."""
        if self.gradInput is None:
            return None
        if buffer_reuse.on:
            value = copy_to_buffer(self.gradInput, value)
        self.gradInput = value
        return value

    def keepResults(self: R, keep: bool | None = True) -> R:
        """Set whether inner results stay after backward, as they do in Torch7.

        Inner results are ``output`` and ``gradInput`` of the modules inside, and what backward
        needs.

        Args:
            keep: False frees them during ``backward``, which saves memory; reading one is then an
                error until the next forward. True, the default, and None keep them. A module that
                is in the net several times keeps its results in any case.

        Returns:
            This module.

        ``nn.Module.keep_results = False`` sets it for all nets.
        """
        if keep is not None and not isinstance(keep, bool):
            raise TypeError(f"keep is {keep!r}; True, False or None is accepted")
        modules = self.listModules()
        times = Counter(map(id, modules))
        for module in modules:
            module.keep_results = keep if times[id(module)] == 1 else True
        return self

    def free_results(self) -> None:
        """Drop the results of the latest pass here, if ``keepResults(False)`` was called."""
        if self.keep_results is False:
            fields = self.__dict__
            for name in ("output", "_graph", *self.pass_fields, *self.cleared_fields):
                fields.pop(name, None)
            if fields.get("gradInput", _MISSING) is not None:
                fields.pop("gradInput", None)
            fields["_freed"] = True

    def clearState(self: R) -> R:
        """Empty ``output``, ``gradInput`` and other results of passes, which need not be saved."""
        fields = self.__dict__
        for name in ("_graph", "_freed", *self.pass_fields):
            fields.pop(name, None)
        for name in ("output", "gradInput"):
            value = getattr(self, name)  # one that lean mode has freed is empty again
            if value is not None:
                fields[name] = cleared(value, self._empty(), self.passes_on)
        return self
