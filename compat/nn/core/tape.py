"""One autograd graph per outermost call.

``Module.updateOutput`` opens a ``Tape``; modules called while it is open join its graph, so that a
whole net is one graph and its backward one call into PyTorch's engine. A module that computes its
own gradients, the Torch7 way, is a ``Cut``: the graph ends at its input and begins anew at its
output, and backward calls its three methods from here, in the caller's thread. (Called from inside
the engine, as a ``torch.autograd.Function``, a DataParallelTable would wait for worker threads
that wait for the very engine thread it blocks.)
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge

from compat.nn.checks.error_place import blame, locate_within
from compat.nn.core.autograd import accumulate, gradients, gradients_up_to
from compat.nn.core.contributions import contributions
from compat.nn.core.earlier_values import EarlierValues
from compat.nn.core.plan import Call, Plan, filled
from compat.tensor_tables import map_tensors, pairs, tensors, with_tensors
from compat.torch_internals import foreach_add_, set_versions, version, versions


class Recorded(Protocol):
    """What a tape needs of a module."""

    typename: ClassVar[str]
    train: bool
    keep_results: bool | None
    results_read: bool
    read_after_update: bool | None
    latest_tape: Tape | None
    gradInput: Any
    compilation: Any

    @property
    def latest_record(self) -> Record | None:
        """What the graph knows of its latest call."""

    @property
    def recordable(self) -> bool:
        """Whether its computation can be a part of the graph."""

    @property
    def remembers_calls(self) -> bool:
        """Whether it goes back through its calls itself, the latest first."""

    @property
    def repeatable(self) -> bool:
        """Whether it gives the same again for the same input."""

    @property
    def stops_gradient(self) -> bool:
        """Whether the graph ends at its input."""

    @property
    def adds_gradient(self) -> bool:
        """Whether backward goes through it even where the net leaves its output out."""

    def tensor_slots(self) -> Iterable[Any]:
        """Where its own tensors are."""

    def trained_parameters(self) -> list[Tensor]:
        """Its own parameters that have a gradient."""

    def joins(self, tape: Tape) -> bool:
        """Whether its computation is to be a part of this graph."""

    def compute(self, input: Any) -> Any:
        """Its computation."""

    def updateOutput(self, input: Any) -> Any:
        """Its method, where it computes its own gradients."""

    def children(self) -> Sequence[Any]:
        """The modules directly below it."""

    def listModules(self) -> Sequence[Any]:
        """It and the modules below it."""


class _State(threading.local):
    tape: Tape | None = None


_state = _State()


def current_tape() -> Tape | None:
    """The tape that this thread is recording, if any."""
    return _state.tape


def current_recorder() -> Any:
    """What notes for a plan the pass that this thread is recording, if anything."""
    tape = _state.tape
    return None if tape is None else tape.recorder


@contextmanager
def outside() -> Iterator[None]:
    """Within it, the tape that is being recorded is not: what is computed has graphs of its own."""
    tape, _state.tape = _state.tape, None
    if tape is None:
        yield
        return
    # A net inside that has some of these parameters too switches them on for its own graph.
    tape.require_grad(False)
    try:
        yield
    finally:
        tape.require_grad(True)
        _state.tape = tape


class Unset:
    """Nothing computed yet: reads as Torch7's empty tensor."""

    def __repr__(self) -> str:
        return "unset"

    def __deepcopy__(self, memo: dict[int, Any]) -> Unset:
        return self


UNSET = Unset()

# Stands for the record of a call that was made by a plan, until somebody asks for it.
PENDING: Any = object()


class Record:
    """What the graph knows of one call of one module.

    A *place* is how autograd identifies a tensor, ``(grad_fn, output_nr)``; None stands for one
    outside the graph. ``input_places`` and ``output_places`` are noted when the call happens, since
    an in-place operation later on gives the same tensor object another place.

    ``parameters`` and ``cuts`` are the ranges of the tape's lists that belong to the module and
    what is below it. ``plain_output``, the output without graph, and ``grad_input`` are made when
    they are first read.
    """

    __slots__ = (
        "cuts",
        "grad_input",
        "input",
        "input_places",
        "output",
        "output_places",
        "parameters",
        "plain_output",
    )

    def __init__(self, input: Any) -> None:
        self.input = input
        self.output: Any = None
        self.plain_output: Any = None
        self.grad_input: Any = UNSET
        # None where nothing is written over, so that they are the same later on.
        self.input_places: list[Any] | None = []
        self.output_places: list[Any] | None = []
        self.parameters = self.cuts = (0, 0)

    def output_edges(self) -> list[Any]:
        """The tensors of the output as autograd takes them; None for those outside the graph."""
        return _edges(self.output, self.output_places)

    def is_written_over(self) -> bool:
        """Whether a tensor of it has been given another place since."""
        both = (self.input, self.input_places), (self.output, self.output_places)
        return any(places and [_place(t) for t in tensors(v)] != places for v, places in both)

    def input_edges(self) -> list[Any]:
        """The tensors of the input as autograd takes them; None for those outside the graph."""
        return _edges(self.input, self.input_places)

    def has_input_in_graph(self) -> bool:
        """Whether the gradient of the input can be computed, or there is none, as of indices.

        It cannot where the graph ends further on, at a module whose gradInput is switched off.
        """
        given = tensors(self.input)
        reached = any(edge is not None for edge in self.input_edges())
        return reached or not any(t.is_floating_point() for t in given)


def _place(tensor: Tensor) -> Any:
    return (tensor.grad_fn, tensor.output_nr) if tensor.requires_grad else None


def _edges(value: Any, places: list[Any] | None) -> list[Any]:
    """The tensors of ``value`` as autograd takes them, by their places; None outside the graph."""
    if places is None:
        return [tensor if tensor.requires_grad else None for tensor in tensors(value)]
    # A leaf has no grad_fn and stands for itself.
    return [
        None if place is None else tensor if place[0] is None else GradientEdge(*place)
        for tensor, place in zip(tensors(value), places, strict=True)
    ]


class Cut:
    """One call of a module that computes its own gradients.

    The graph ends at ``input`` and begins anew at ``output``, whose tensors are leaves. The module
    is given ``plain``, the input without graph. ``place`` is how many of the tape's parameters came
    before it. ``grad_output`` and ``grad_input`` are those of the latest backward.
    """

    __slots__ = ("grad_input", "grad_output", "input", "module", "output", "place", "plain")

    def __init__(self, module: Recorded, input: Any, plain: Any, output: Any, place: int) -> None:
        self.module = module
        self.input = input
        self.plain = plain
        self.output = output
        self.place = place
        self.grad_output: Any = None
        self.grad_input: Any = None


def _leaf(tensor: Tensor) -> Tensor:
    leaf = tensor.detach()
    return leaf.requires_grad_(True) if leaf.is_floating_point() else leaf


def _detach(tensor: Tensor) -> Tensor:
    return tensor.detach()


def _views_of_input(input: Any, places: list[Any], output: Any) -> Any:
    """``output``, with a view in place of each tensor that the module returns from its input.

    Input and output are then different nodes of the graph: as one node they would have one
    gradient, that of everything that reads the input. The view is ``[...]``, since the gradient of
    ``view_as`` is a view too, to which autograd cannot add in place.
    """
    taken = {id(t): place for t, place in zip(tensors(input), places, strict=True)}

    def own(tensor: Tensor) -> Tensor:
        passed = tensor.requires_grad and taken.get(id(tensor)) == _place(tensor)
        return tensor[...] if passed else tensor

    return map_tensors(own, output)


def _warn_of_cut(module: Recorded) -> None:
    warnings.warn(
        f"the gradInput of {module.typename} is None, inside a net or in its file, so that modules "
        "before it get no gradient; in Lua most layers fail so",
        stacklevel=2,
    )


class Tape:
    """The graph of one outermost call, and what backward needs to run it.

    Fields of the call: ``source``, the input as it was given; ``leaves``, what stands for it in the
    graph; ``records``, one per call of a module, of which ``root`` is the outermost one's;
    ``parameters`` and ``cuts``, in the order in which they were met; ``latest``, the latest cut of
    each module; ``toggled``, parameters that require grad only while the graph is built or run;
    ``sources``, the calls that add a gradient of their own; ``ends``, of modules in it a function
    that tells tensors and gradients, or None, that backward begins with besides the output's.
    ``recording``: whether there is a graph, which under ``no_grad`` there is not; ``to_input``:
    whether it reaches the input.

    Of backward: ``keep``, whether it must leave the results inside the net, and ``spent``, whether
    it has freed them; ``accumulating``, whether the engine is adding to the gradients right now;
    ``gradOutput`` and ``grad_outputs``, what it began with, of which ``grad_versions`` are those;
    ``given``, the caller's gradOutput, of which the former are copies where results are kept;
    ``stamp``, ``current_stamp`` then.

    Of parameters that change afterwards (``compat.nn.core.recomputation``): ``versions``, those at
    the end of forward, which the engine expects; ``remembers``, whether backward notes the values,
    in ``earlier``; ``owners``, the net's parameters, where others stand for them in this graph.
    Of an input that backward was given instead of the source: ``replacements``, leaves and values.
    Of a pass by a plan (``compat.nn.core.plan``): its ``calls``, whether it is ``bare``, and until
    backward frees them the ``values`` that the calls refer to.
    """

    __slots__ = (
        "accumulating",
        "bare",
        "calls",
        "cuts",
        "earlier",
        "ends",
        "given",
        "gradOutput",
        "grad_outputs",
        "grad_versions",
        "keep",
        "latest",
        "leaves",
        "module",
        "owners",
        "parameters",
        "recording",
        "records",
        "remembers",
        "replacements",
        "root",
        "source",
        "source_versions",
        "sources",
        "spent",
        "stamp",
        "to_input",
        "toggled",
        "train",
        "values",
        "versions",
    )

    # Whether backward takes an input that was changed since forward, as Torch7 does; else that is
    # an error where somebody needs it.
    takes_changed_input: ClassVar[bool] = False
    # Whether it never has the results inside the net.
    is_opaque: ClassVar[bool] = False
    # What notes it for a plan.
    recorder: Any = None

    def __init__(self, module: Recorded, source: Any) -> None:
        # Weak, as the module holds the tape: in a circle, both would stay until the garbage
        # collector runs.
        self.module = weakref.ref(module)
        self.train = module.train
        switch = module.keep_results
        self.keep = module.results_read if switch is None else switch
        self.remembers = module.read_after_update is not False if switch is None else switch
        self.earlier: EarlierValues | None = None
        self.owners: list[Tensor] = []
        self.versions: list[int] = []
        self.replacements: list[tuple[Tensor, Tensor]] = []
        self.spent = False
        self.given: Any = None
        self.grad_versions: list[int] = []
        self.gradOutput: Any = None
        self.recording = torch.is_grad_enabled()
        self.source = source
        self.source_versions: list[int] = []
        if self.recording:
            alone = isinstance(source, Tensor)
            self.source_versions = versions((source,) if alone else tensors(source))
        self.leaves: Any = None
        self.root: Record | None = None
        self.records: list[Record] = []
        self.parameters: list[Tensor] = []
        self.toggled: list[Tensor] = []
        self.cuts: list[Cut] = []
        self.sources: list[Record] = []
        self.ends: dict[Recorded, Callable[[], tuple[Any, Any]]] = {}
        self.latest: dict[Recorded, Cut] = {}
        self.to_input = True
        self.accumulating = False
        self.grad_outputs: tuple[list[Tensor], list[Tensor]] | None = None
        self.stamp = 0
        self.calls: Sequence[Call] = ()
        self.bare = False
        self.values: Sequence[Tensor] | None = None

    @staticmethod
    def replay(module: Recorded, input: Any, to_input: bool) -> Tape:
        """Go forward through ``module`` as the outermost call, without any plan.

        Its former tape is released first. Without ``to_input`` there will be no gradient of the
        input.
        """
        return Tape(module, input).go_forward(module, to_input)

    def again(self, module: Recorded) -> Tape:
        """Go forward with a graph as this did."""
        return Tape.replay(module, self.source, self.to_input)

    def go_forward(self, module: Recorded, to_input: bool, plan: Plan | None = None) -> Tape:
        """Record, by ``plan`` if there is one, after releasing the former tape."""
        if module.latest_tape is not None:
            module.latest_tape.release()
        source = self.source
        self.to_input = to_input and self.recording and not module.stops_gradient
        cut = _leaf if self.to_input else _detach
        self.leaves = cut(source) if isinstance(source, Tensor) else map_tensors(cut, source)
        outer, _state.tape = _state.tape, self
        try:
            if plan is None:
                self.join(module, self.leaves)
                self.root = module.latest_record
            else:
                self._follow(module, plan)
        finally:
            _state.tape = outer
            self.require_grad(False)
        self.versions = versions(self._watched())
        return self

    def _follow(self, module: Recorded, plan: Plan) -> None:
        """Compute what the modules of a net computed when the plan was made."""
        self.calls, self.bare = plan.calls, plan.bare
        self.parameters = plan.parameters
        for parameter in plan.parameters:
            if not parameter.requires_grad:
                parameter.requires_grad_(True)
                self.toggled.append(parameter)
        leaves = self.leaves
        given = (leaves,) if isinstance(leaves, Tensor) else tensors(leaves)
        assert plan.run is not None
        output, self.values = plan.run(*given)
        root = self.root = self._record(plan.calls[0], leaves, output)
        self.records.append(root)
        self._become_latest(module, plan, root)

    def _become_latest(self, module: Recorded, plan: Plan, root: Record) -> None:
        """Be the latest tape of the modules of a plan, whose records are made later on."""
        for inner in plan.inner:
            inner["latest_tape"], inner["latest_record"] = self, PENDING
        fields = module.__dict__
        fields["latest_tape"], fields["latest_record"] = self, root

    def _record(self, call: Call, input: Any, output: Any) -> Record:
        record = Record(input)
        record.output = output
        if self.recording:
            record.input_places = record.output_places = None
            record.parameters, record.cuts = call.parameters, call.cuts
        return record

    def make_records(self) -> None:
        """Make the records of the calls inside the net that a plan has made."""
        values = self.values
        for call in self.calls[1:]:
            if values is None:
                record = Record(None)
            else:
                input, output = filled(call.input, values), filled(call.output, values)
                record = self._record(call, input, output)
            self.records.append(record)
            module = call.module()
            if module is not None and module.latest_tape is self:
                vars(module)["latest_record"] = record

    def _watched(self) -> list[Tensor]:
        """What the engine takes as it is now, changed in place since forward or not."""
        if not Tape.takes_changed_input:
            return self.parameters
        return [*self.parameters, *tensors(self.leaves)]

    def release(self) -> None:
        """Free the graph and everything it keeps alive."""
        self._release_records()
        self.parameters = []  # a plan may hold the same list
        self.values = None
        self.owners.clear()
        self.earlier = None
        self.toggled.clear()
        self.cuts.clear()
        self.replacements.clear()
        self.sources.clear()
        self.ends.clear()
        self.latest.clear()
        self.leaves = self.root = self.source = None
        self.given = self.gradOutput = self.grad_outputs = None
        self.spent = False

    def _release_records(self) -> None:
        for record in self.records:
            record.input = record.output = record.plain_output = None
            record.input_places = record.output_places = []
            record.grad_input = UNSET
        self.records.clear()

    def join(self, module: Recorded, input: Any) -> Any:
        """Run ``module`` as part of this recording."""
        # The outermost module has come here through its own updateOutput.
        if self.records and not module.joins(self):
            return self._cut(module, input)
        if not self.recording:
            record = Record(input)
            fields = module.__dict__
            fields["latest_tape"], fields["latest_record"] = self, record
            self.records.append(record)
            record.output = module.compute(input)
            return record.output
        if module.stops_gradient:
            if self.parameters and input is not self.leaves:
                _warn_of_cut(module)
            input = map_tensors(_detach, input)
        if not module.repeatable:
            self.keep = True
        record = Record(input)
        if module.adds_gradient:
            self.sources.append(record)
        fields = module.__dict__
        fields["latest_tape"], fields["latest_record"] = self, record
        self.records.append(record)
        parameters, cuts = len(self.parameters), len(self.cuts)
        if trained := module.trained_parameters():
            self._train(trained)
        if isinstance(input, Tensor):
            place = (input.grad_fn, input.output_nr) if input.requires_grad else None
            places = record.input_places = [place]
            output = module.compute(input)
        else:
            places = record.input_places = [_place(tensor) for tensor in tensors(input)]
            output = module.compute(input)
        if isinstance(output, Tensor) and isinstance(input, Tensor):
            after = (output.grad_fn, output.output_nr) if output.requires_grad else None
            if output is input and after == place and place is not None:
                output = output[...]
                after = _place(output)
            record.output_places = [after]
        else:
            output = _views_of_input(input, places, output)
            record.output_places = [_place(tensor) for tensor in tensors(output)]
        record.output = output
        record.parameters = (parameters, len(self.parameters))
        record.cuts = (cuts, len(self.cuts))
        return output

    def _train(self, parameters: Iterable[Tensor]) -> None:
        for parameter in parameters:
            self.parameters.append(parameter)
            if not parameter.requires_grad:
                parameter.requires_grad_(True)
                self.toggled.append(parameter)

    def _cut(self, module: Recorded, input: Any) -> Any:
        plain = map_tensors(_detach, input)
        with outside():
            output = map_tensors(_leaf, self._own_output(module, plain))
        cut = self.latest[module] = Cut(module, input, plain, output, len(self.parameters))
        self.cuts.append(cut)
        return output

    def _own_output(self, module: Recorded, plain: Any) -> Any:
        return module.updateOutput(plain)

    def require_grad(self, value: bool) -> None:
        # Only on while the graph is built or run: m.weight.fill_(1) stays legal in between.
        for parameter in self.toggled:
            parameter.requires_grad_(value)

    # Backward.

    def backward(
        self, record: Record, grad_output: Any, scale: float, to_input: bool, to_parameters: bool
    ) -> Any:
        """Gradients of one recorded call.

        Returns the gradient of its input (None for tensors that it does not reach) when
        ``to_input``, and adds ``scale`` times those of the parameters below it to their ``grad``
        when ``to_parameters``.
        """
        is_root = record is self.root
        if not is_root:
            self.go_with_graphs()
        given = grad_output
        if is_root:
            grad_output = self._to_keep(given) if self.needs_later(to_input) else given
        roots, grads = self._roots(record, grad_output)
        cuts = self.cuts[slice(*record.cuts)]
        if is_root and scale == 1 and not cuts and to_parameters and to_input:
            self._free_results()
            grad_input = self._at_once(roots, grads)
        else:
            waiting = self._first_places(record) if to_parameters else {}
            found: dict[Tensor, Tensor] = {}
            if cuts and (to_input or not self._flowed(given)):
                loss = None
                if isinstance(record.output, (int, float)) and cuts[-1].output is record.output:
                    # A number is not in the graph, so its gradient is handed over directly.
                    loss = cuts[-1]
                    loss.grad_output = grad_output
                acc = scale if to_parameters else None
                roots, grads = self._through_cuts(roots, grads, cuts, acc, loss, waiting, found)
            else:
                for cut in reversed(cuts):
                    if cut.grad_output is not None:
                        self._call(cut, "accGradParameters", scale)
                roots, grads = self._with_cuts(roots, grads, cuts)
            # Gradients of parameters, too, must not go on where others have the same parameters.
            bounded = to_input or not is_root
            edges = _edges(record.input, record.input_places) if bounded else []
            at_input = self._gradients_of(roots, grads, edges, waiting, found)
            add_scaled(found, scale)
            grad_input = with_tensors(record.input, at_input) if to_input else None
        if is_root:
            self.given = given
            self._begun_with(grad_output, roots, grads)
        return grad_input

    def needs_later(self, to_input: bool) -> bool:
        """Whether something of this backward pass may be computed later from its gradOutput."""
        inside = len(self.calls) > 1 or len(self.records) > 1 or self.cuts
        return bool(self.keep or inside or not to_input)

    def _to_keep(self, grad_output: Any) -> Any:
        """A copy of what backward begins with, where that must stay as it is."""
        is_copied = self.keep or self.remembers or without_versions(grad_output)
        return map_tensors(torch.clone, grad_output) if is_copied else grad_output

    def _begun_with(self, grad_output: Any, roots: list[Any], grads: list[Tensor]) -> None:
        self.gradOutput = grad_output
        self.grad_outputs = (roots, grads)
        self.grad_versions = versions(grads)
        self._note_parameters()

    def holds_gradOutput(self) -> bool:
        """Whether nobody has written into what backward began with."""
        return self.grad_outputs is None or versions(self.grad_outputs[1]) == self.grad_versions

    def _note_parameters(self) -> None:
        if self.remembers and self.parameters and (self.earlier is None or self.is_outdated()):
            self.earlier = EarlierValues(self.owners or self.parameters)
        self.stamp = self.current_stamp()

    def _roots(self, record: Record, grad_output: Any) -> tuple[list[Any], list[Tensor]]:
        """Where backward starts, and with what."""
        output = record.output
        alone = isinstance(output, Tensor) and isinstance(grad_output, Tensor)
        if record is self.root and alone and not (self.sources or self.ends):
            grad = fitted(grad_output, output)
            return ([output], [grad]) if output.requires_grad else ([], [])
        roots: list[Any] = []
        grads = []
        given = pairs(output, grad_output, ("output", "gradOutput"))
        # The outermost call's tensors are as it left them.
        edges = None if record is self.root else _edges(output, record.output_places)
        for i, (tensor, grad) in enumerate(given):
            if grad is not None:
                grad = fitted(grad, tensor)
                edge = tensor if edges is None else edges[i]
                if edge is not None and (edges is not None or tensor.requires_grad):
                    roots.append(edge)
                    grads.append(grad)
        if record is self.root:
            for source in self.sources:
                added = _edges(source.output, source.output_places)
                roots += [edge for edge in added if edge is not None]
                grads += [torch.zeros_like(t) for t in tensors(source.output) if t.requires_grad]
            for end in self.ends.values():
                for tensor, grad in pairs(*end(), ("state", "gradient")):
                    if grad is not None and tensor.requires_grad:
                        roots.append(tensor)
                        grads.append(fitted(grad, tensor))
        return roots, grads

    def _free_results(self) -> None:
        """Free what this pass does not need; see ``compat.nn.core.recomputation``."""
        if self.keep or not self.source_is_unchanged():
            return
        for record in self.records:
            if record is not self.root:
                record.input = record.output = None
        self.values = None
        self.spent = True

    def source_is_unchanged(self) -> bool:
        """Whether nobody, such as a first layer in place, has written into the input."""
        return versions(tensors(self.source)) == self.source_versions

    def _at_once(self, roots: list[Tensor], grads: list[Tensor]) -> Any:
        """The common case: one call of the engine, which adds to the gradients itself."""
        leaves = self.leaves
        alone = isinstance(leaves, Tensor)
        for leaf in (leaves,) if alone else tensors(leaves):
            leaf.grad = None
        if roots:
            changed = self._prepare()
            self.accumulating = True
            try:
                self._accumulate(roots, grads)
            finally:
                self.accumulating = False
                self._finish(changed)
        return leaves.grad if alone else map_tensors(lambda leaf: leaf.grad, leaves)

    def _accumulate(self, roots: list[Any], grads: list[Tensor]) -> None:
        """Add to the gradients of leaves and parameters, or leave the latter to who keeps them."""
        kept = contributions()
        if kept is None:
            accumulate(roots, grads, retain_graph=not self.spent)
            return
        leaves = [leaf for leaf in tensors(self.leaves) if leaf.requires_grad]
        # The last come first, as in the engine.
        ordered = dict.fromkeys(reversed(self.parameters))
        parameters = [p for p in ordered if p.grad is not None]
        wanted = [*leaves, *parameters]
        if not wanted:
            return
        found = gradients(roots, grads, wanted, retain_graph=not self.spent)
        for leaf, gradient in zip(leaves, found, strict=False):
            leaf.grad = gradient
        at_parameters = zip(parameters, found[len(leaves) :], strict=True)
        reached = {p: gradient for p, gradient in at_parameters if gradient is not None}
        kept.add(reached)
        kept.announced += reached

    def _gradients(
        self, roots: list[Any], grads: list[Tensor], wanted: list[Any]
    ) -> list[Tensor | None]:
        with self._as_it_is():
            return list(gradients(roots, grads, wanted))

    @contextmanager
    def _as_it_is(self) -> Iterator[None]:
        """Within it the engine takes the parameters as they are now."""
        changed = self._prepare()
        try:
            yield
        finally:
            self._finish(changed)

    def _prepare(self) -> list[int] | None:
        """Have the engine take the parameters as they are now, as Torch7 does, changed or not.

        Returns what ``_finish`` needs.
        """
        self.require_grad(True)
        if self.owners:
            for parameter, owner in zip(self.parameters, self.owners, strict=True):
                parameter.data.copy_(owner)
        self._swap_input()
        watched = self._watched()
        now = versions(watched)
        if now == self.versions:
            return None
        set_versions(watched, self.versions)
        return now

    def _swap_input(self) -> None:
        """Put what replaces the input into its memory, or what was there back."""
        for i, (leaf, other) in enumerate(self.replacements):
            self.replacements[i] = leaf, leaf.detach().clone()
            leaf.data.copy_(other)

    def _finish(self, changed: list[int] | None) -> None:
        self.require_grad(False)
        self._swap_input()
        if changed is not None:
            set_versions(self._watched(), changed)

    def _first_places(self, record: Record) -> dict[Tensor, int]:
        """The parameters below a call, with the place where each came first."""
        first, end = record.parameters
        places = range(end - 1, first - 1, -1)
        return {self.parameters[place]: place for place in places}

    def _gradients_of(
        self,
        roots: list[Any],
        grads: list[Tensor],
        edges: list[Any],
        parameters: Iterable[Tensor],
        found: dict[Tensor, Tensor],
    ) -> list[Tensor | None]:
        """The gradients at ``edges``, of which some are None; those of parameters go to ``found``.

        The other cases: what the engine is asked for is added later, so that ``scale`` applies, and
        that gradients stop at an inner call's input.
        """
        wanted = [edge for edge in edges if edge is not None]
        asked = list(parameters)
        if not roots or not (wanted or asked):
            return [None] * len(edges)
        with self._as_it_is():
            reached = gradients_up_to(roots, grads, wanted, asked)
        for parameter, gradient in zip(asked, reached[len(wanted) :], strict=True):
            if gradient is not None:
                found[parameter] = gradient
        remaining = iter(reached)
        return [None if edge is None else next(remaining) for edge in edges]

    def _through_cuts(
        self,
        roots: list[Any],
        grads: list[Tensor],
        cuts: list[Cut],
        scale: float | None,
        loss: Cut | None,
        waiting: dict[Tensor, int],
        found: dict[Tensor, Tensor],
    ) -> tuple[list[Any], list[Tensor]]:
        """Send gradients from the outputs back through each cut, last first.

        With ``scale``, the modules of the cuts also add those of their parameters. ``loss``, a cut
        whose output is a number and no tensor, has its ``grad_output`` already. Returns where
        backward goes on below, and with what.

        Parameters among those ``waiting`` that came after a cut cannot be reached from the cut's
        input: their gradients go to ``found`` on the way to the cut, which is gone once.
        """
        for cut in reversed(cuts):
            after = [p for p, place in waiting.items() if place >= cut.place]
            for parameter in after:
                del waiting[parameter]
            leaves = [leaf if leaf.requires_grad else None for leaf in tensors(cut.output)]
            at_output = self._gradients_of(roots, grads, leaves, after, found)
            if any(grad is not None for grad in at_output):
                given = [
                    torch.zeros_like(leaf) if grad is None else grad
                    for leaf, grad in zip(tensors(cut.output), at_output, strict=True)
                ]
                cut.grad_output = with_tensors(cut.output, given)
            elif cut is not loss:
                cut.grad_output = cut.grad_input = None
                continue
            if scale is None:
                cut.grad_input = self._call(cut, "updateGradInput")
            else:
                cut.grad_input = self._call(cut, "backward", scale)
            roots, grads = self._with_cuts(roots, grads, [cut])
        return roots, grads

    def _call(self, cut: Cut, method: str, *scale: float) -> Any:
        """Call a method of the module of ``cut`` as it was after that call."""
        module = cut.module
        try:
            if self.latest[module] is not cut and not module.remembers_calls:
                # It is in the net several times, and is as its latest call left it.
                module.updateOutput(cut.plain)
                self.latest[module] = cut
            wanted = not module.stops_gradient
            result = getattr(module, method)(cut.plain, cut.grad_output, *scale)
        except Exception as error:
            blame(error, module, method, cut.plain, cut.grad_output)
            locate_within(error, module, self.module())
            raise
        if not wanted:
            module.gradInput = None
        return result if wanted else None

    def _flowed(self, grad_output: Any) -> bool:
        """Whether updateGradInput has already sent this gradient through the cuts."""
        return self.grad_outputs is not None and all(
            any(grad is other for other in tensors(self.given)) for grad in tensors(grad_output)
        )

    @staticmethod
    def _with_cuts(
        roots: list[Any], grads: list[Tensor], cuts: list[Cut]
    ) -> tuple[list[Any], list[Tensor]]:
        """Where backward goes on below ``cuts``, added to where it started, and with what."""
        roots, grads = list(roots), list(grads)
        for cut in cuts:
            for tensor, grad in zip(tensors(cut.input), cut_gradients(cut), strict=True):
                if grad is not None and tensor.requires_grad:
                    roots.append(tensor)
                    grads.append(grad)
        return roots, grads

    def note(self, gradOutput: Any) -> None:
        """Be as after a backward pass of ``gradOutput``."""
        assert self.root is not None
        self._begun_with(gradOutput, *self._roots(self.root, gradOutput))

    def current_stamp(self) -> int:
        """A number that grows with every change of the parameters."""
        parameters = self.owners or self.parameters
        groups = {id(g): g for g in [p.__dict__.get("_flat") for p in parameters]}
        # After unpickling a group is an empty one.
        found = [group.version() for group in groups.values() if group]
        return sum(versions(parameters)) + sum(found)

    def is_outdated(self) -> bool:
        """Whether parameters have changed since backward."""
        if self.stamp != self.current_stamp():
            return True
        # Other tensors in the same memory may have been written to, such as a replica's.
        return self.earlier is not None and not self.earlier.hold()

    def holds_parameters(self) -> bool:
        """Whether parameters are as forward left them."""
        return versions(self._watched()) == self.versions

    def is_a_step(self) -> bool:
        """Whether this pass has gone back, and the parameters have changed since."""
        return self.grad_outputs is not None and self.is_outdated()

    def is_source(self, input: Any) -> bool:
        """Whether ``input`` is what was forwarded, or has the same content."""
        if input is self.source:
            return True
        held = zip(tensors(input), tensors(self.source), self.source_versions, strict=True)
        return all(
            given is source
            or given.data_ptr() == source.data_ptr()
            # Overwritten since then, presumably by an in-place layer: nothing to compare with.
            or version(source) != known
            or torch.equal(given, source.to(given))
            for given, source, known in held
        )

    def takes(self, input: Any, read: bool) -> bool:
        """Go back with ``input`` in the place of the source, where that is possible.

        Gradients are then those of Torch7: what modules computed in forward stays as it is, and
        those that get the input itself read the new one; without ``read`` none does.
        """
        given, leaves = tensors(input), tensors(self.leaves)
        alike = len(given) == len(leaves) and all(
            new.shape == leaf.shape and new.dtype == leaf.dtype and new.device == leaf.device
            for new, leaf in zip(given, leaves, strict=True)
        )
        if not alike or self.cuts or self.spent:
            return False
        self.replacements = [
            (leaf, new.detach()) for new, leaf in zip(given, leaves, strict=True) if read
        ]
        self.source, self.source_versions = input, versions(given)
        return True

    def lacks(self, record: Record | None, what: str) -> bool:
        """Whether ``what`` is asked of a call must be computed again.

        A bare graph has outputs alone inside.
        """
        inside = record is not self.root
        return self.spent or (self.bare and inside and what != "output")

    def go_with_graphs(self) -> None:
        """Have later passes of this net keep the graph."""
        module = self.module()
        plans = None if module is None else vars(module).get("_plans")
        if plans is not None:
            plans.direct = False

    def has_fallen_short(self) -> None:
        """Note that it had to be recorded again."""

    def results_are_fresh(self, record: Record | None) -> bool:
        """Whether each tensor of a call's results has contiguous memory that nothing else has."""
        return False

    def keeps_gradients(self) -> bool:
        """Whether the gradients inside are there, of whatever the parameters were."""
        return False

    def is_shared(self, record: Record) -> bool:
        """Whether a record stands for the calls of all modules inside."""
        return False

    def repeating(self) -> AbstractContextManager[None]:
        """A block in which the net can go forward again as it did."""
        return nullcontext()

    def remembers_calls(self) -> bool:
        """Whether modules in it go back through their calls themselves."""
        return any(cut.module.remembers_calls for cut in self.cuts)

    def went_back(self, record: Record) -> bool:
        """Whether backward has run through this graph, and the graph is still there."""
        return self.grad_outputs is not None and record.output is not None

    def gradients_at(self, values: Any) -> Any:
        """The gradients of tensors in this graph at the latest backward, zeros where none came."""
        assert self.grad_outputs is not None
        roots, grads = self.grad_outputs
        wanted = [tensor for tensor in tensors(values) if tensor.requires_grad]
        found = iter(self._gradients(roots, grads, wanted) if roots and wanted else ())

        def gradient(tensor: Tensor) -> Tensor:
            grad = next(found, None) if tensor.requires_grad else None
            return torch.zeros_like(tensor) if grad is None else grad

        return map_tensors(gradient, values)

    def gradients_from(self, grad_output: Any, wanted: list[Tensor]) -> list[Tensor | None]:
        """The gradients of leaves for a gradOutput; None where none comes."""
        assert self.root is not None
        roots, grads = self._roots(self.root, grad_output) if wanted else ([], [])
        return self._gradients(roots, grads, wanted) if roots else [None] * len(wanted)

    def inner_grad_input(self, record: Record) -> Any:
        """The gradInput of a call inside this graph, computed because somebody reads it."""
        assert self.grad_outputs is not None
        outputs = [e for e in _edges(record.output, record.output_places) if e is not None]
        if not outputs:
            return None
        roots, grads = self.grad_outputs
        found = self._gradients_of(roots, grads, outputs, (), {})
        reached = [(e, g) for e, g in zip(outputs, found, strict=True) if g is not None]
        roots, grads = [e for e, _ in reached], [g for _, g in reached]
        roots, grads = self._with_cuts(roots, grads, self.cuts[slice(*record.cuts)])
        edges = _edges(record.input, record.input_places)
        return with_tensors(record.input, self._gradients_of(roots, grads, edges, (), {}))


def without_versions(value: Any) -> bool:
    """Whether PyTorch does not tell of a tensor in it when somebody writes into it."""
    if isinstance(value, Tensor):
        return value.is_inference()
    return any(map(Tensor.is_inference, tensors(value)))


def fitted(grad: Tensor, output: Tensor) -> Tensor:
    """A gradOutput in the shape of ``output``, which must agree in all but the shape.

    A gradOutput of one element is a number of any type: what a loss at the end of a graph gets
    (nngraph reads it so).
    """
    if grad.numel() == output.numel() == 1:
        return grad.to(output).reshape(output.shape)
    if grad.dtype != output.dtype or grad.device != output.device:
        raise TypeError(
            f"gradOutput is {grad.dtype} on {grad.device}, output is {output.dtype} on "
            f"{output.device}; one type on one device is accepted"
        )
    if grad.shape == output.shape:
        return grad
    if grad.numel() != output.numel():
        raise ValueError(
            f"gradOutput has size {tuple(grad.shape)}, output has size {tuple(output.shape)}; "
            "as many elements are accepted"
        )
    return grad.reshape(output.shape)


def cut_gradients(cut: Cut) -> list[Tensor | None]:
    """The gradients that the module of a cut gave for the tensors of its input, None for some."""
    found: list[Tensor | None] = []
    for tensor, grad in pairs(cut.input, cut.grad_input, ("input", "gradInput")):
        # An empty gradInput is Torch7's way to say that there is none (LookupTable).
        if grad is None or not grad.numel() or not tensor.is_floating_point():
            found.append(None)
            continue
        if grad.numel() != tensor.numel():
            raise ValueError(
                f"gradInput of {cut.module.typename} has size {tuple(grad.shape)}, its input has "
                f"size {tuple(tensor.shape)}; as many elements are accepted"
            )
        found.append(_beside(grad.reshape(tensor.shape), tensor))
    return found


def _beside(grad: Tensor, input: Tensor) -> Tensor:
    """A gradInput on the device of the input, where autograd goes on with it.

    A DataParallelTable takes batches from anywhere, and has its gradInput on its first device.
    """
    if grad.is_meta and not input.is_meta:  # there are no numbers to copy
        return torch.zeros_like(grad, device=input.device)
    return grad.to(input.device)


def add_scaled(gradients: dict[Tensor, Tensor], scale: float) -> None:
    """Add ``scale`` times each gradient to its parameter's ``grad``, in place, or leave it so."""
    kept = contributions()
    if kept is not None:
        kept.add(gradients, scale)
        return
    held = [(p.grad, gradient) for p, gradient in gradients.items() if p.grad is not None]
    if held:
        into, values = zip(*held, strict=True)
        foreach_add_(into, values, alpha=scale)
