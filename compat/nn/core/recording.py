"""Which way a net goes forward: as ever, by a plan, without a graph, or through compiled code."""

from __future__ import annotations

from typing import Any

from compat.nn.core.direct import ContinuedTape, DirectTape
from compat.nn.core.direct_recorder import record_directly
from compat.nn.core.plan import Plan, Plans, kind_of_pass
from compat.nn.core.plan_recorder import PlannedTape
from compat.nn.core.tape import Recorded, Tape


def record(module: Recorded, input: Any, to_input: bool = True) -> Tape:
    """Go forward through ``module`` as the outermost call. Its former tape is released first.

    Without ``to_input`` there will be no gradient of the input.
    """
    switch = module.keep_results
    former = module.latest_tape
    if (
        switch is None
        and module.read_after_update is None
        and former is not None
        and former.is_a_step()
    ):
        module.read_after_update = False  # whoever reads would have done so by now
    if module.compilation is not None:
        compiled: Tape | None = module.compilation.record(module, input, to_input)
        if compiled is not None:
            return compiled
    keep = module.results_read if switch is None else switch
    kind = kind_of_pass(input, to_input, keep)
    if kind is None:
        return Tape.replay(module, input, to_input)
    fields = module.__dict__
    plans: Plans | None = fields.get("_plans")
    if plans is None:
        plans = fields["_plans"] = Plans()
    plan = plans.get(kind, fields)
    if isinstance(plan, Plan):
        try:
            return _follow(plan, plans, module, input, to_input)
        finally:
            if plan.failed:
                plans.drop(kind)
    if plan >= plans.sightings:  # more, where recording one raised an error
        tape = PlannedTape(module, input)
        tape.go_forward(module, to_input)
        plans.put(kind, tape.planned())
        return tape
    return Tape.replay(module, input, to_input)


def _follow(plan: Plan, plans: Plans, module: Recorded, input: Any, to_input: bool) -> Tape:
    goes_direct = plans.direct and plan.direct is not False
    if goes_direct and plan.direct is None:
        tape, direct = record_directly(module, input, to_input, plan)
        plan.direct = direct or False
        return tape
    if not goes_direct and plan.run is None:
        return Tape.replay(module, input, to_input)
    tape = DirectTape(module, input, plan.direct) if goes_direct else Tape(module, input)
    try:
        return tape.go_forward(module, to_input, plan)
    except Exception as error:
        if isinstance(tape, DirectTape) and tape.own_error is error:
            raise
        # Computed as ever it tells what was wrong.
        plan.failed = True
        return ContinuedTape(module, tape).go_forward(module, to_input)
