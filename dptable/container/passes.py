"""The passes of a container's replicas: computed, or replayed where they are recorded."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from compat.nn.checks.error_place import locate
from compat.nn.core.module import Module, Scalar
from compat.nn.core.tape import Tape
from dptable.container.batch_statistics import SYNCHRONISED
from dptable.container.cuda_graphs import Pass, Replay
from dptable.container.replica_link import Link
from dptable.threads.part import Owned


class Passes(Owned):
    """Takes the replicas forward on their slices of the batch, and back."""

    def link(self) -> Link:
        """The replicas as they are tied now, and what is recorded of them still holds."""
        dpt = self.dpt
        link = dpt._parameters.link
        if dpt._capture is not None and link is not None and dpt._capture.holds(link, dpt.impl):
            return link
        return dpt._parameters.refresh()

    def forward(self, link: Link, devices: list[torch.device], parts: list[Any]) -> list[Any]:
        """The outputs of the first replicas for ``parts``, one each."""
        dpt = self.dpt
        to_input = dpt.gradInput is not None
        forward = partial(_forward, to_input=to_input)
        wanted = Pass(dpt.impl, link, devices, parts, forward, to_input, self._obstacle())
        with dpt._phases.together(len(parts), devices):
            replays = None if dpt._capture is None else dpt._capture.replays(wanted, dpt.train)
            if replays is not None:
                return dpt._phases.run("forward", wanted.replayed(replays), len(parts))
            outputs = dpt._phases.run("forward", wanted.computed(), len(parts))
        dpt._parameters.grown()
        return outputs

    def _obstacle(self) -> str | None:
        """Why passes of this container cannot be recorded."""
        dpt = self.dpt
        if dpt.statistics == SYNCHRONISED:
            return "statistics is 'synchronised', for which replicas wait for each other"
        if dpt._phases.measured:
            return "shares is 'auto', with which the slices change"
        return None

    def forward_again(self, link: Link, devices: list[torch.device]) -> None:
        """If somebody else, such as another container, has used the net since forward."""
        dpt = self.dpt
        tapes = [
            m.latest_tape if m.recordable else None for m in dpt.impl.setup()[: dpt.maxUsedGpu]
        ]
        if self.replays is None and any(
            tape is not None and tape.source is not part
            for tape, part in zip(tapes, dpt.inputGpu, strict=True)
        ):
            self.forward(link, devices, dpt.inputGpu)

    def backward(self, method: str, *scale: Scalar) -> list[Any]:
        """What ``method`` returns on each replica that went forward."""
        dpt = self.dpt
        inputs, gradients, replays = dpt.inputGpu, dpt.gradOutputGpu, self.replays

        def backward(module: Module, i: int) -> Any:
            if replays is not None:
                return replays[i - 1].backward(method, gradients[i - 1], *scale)
            return getattr(module, method)(inputs[i - 1], gradients[i - 1], *scale)

        return dpt._phases.run("backward", backward, dpt.maxUsedGpu)

    @property
    def replays(self) -> list[Replay] | None:
        """What replayed the latest forward, if it was not computed."""
        dpt = self.dpt
        return None if dpt._capture is None else dpt._capture.running


def _forward(module: Module, input: Any, to_input: bool) -> Any:
    if to_input or not module.recordable:
        return module.updateOutput(input)
    try:
        Tape.record(module, input, to_input=False)
    except Exception as error:
        locate(error, module)
        raise
    return module.output
