"""A program in fewer forms: what Lua says in several ways is written in one."""

from __future__ import annotations

from collections.abc import Sequence

from compat.port.forms.checked_functions import use_called
from compat.port.forms.evaluated_texts import evaluate_texts
from compat.port.forms.filled_tables import fill_tables
from compat.port.forms.getters import name_getters
from compat.port.forms.global_settings import set_globals
from compat.port.forms.later_functions import leave_out_functions
from compat.port.forms.loops import use_pairs
from compat.port.forms.metatables import use_own_metatables
from compat.port.forms.renewed import renew
from compat.port.forms.required_values import require_values
from compat.port.forms.rethrown import call_methods
from compat.port.forms.run_files import run_files
from compat.port.forms.settings import use_settings
from compat.port.forms.singletons import find_singletons
from compat.port.forms.tensor_methods import use_functions
from compat.port.read import syntax as s


def write_in_fewer_forms(
    blocks: Sequence[s.Block], paths: Sequence[str], loads: Sequence[dict[str, int]]
) -> None:
    """Write a program in the forms that later rooms know.

    Args:
        blocks: its files.
        paths: where they are.
        loads: which of them each loads, by the names that it asks for.
    """
    for block in blocks:
        run_files(block)
        leave_out_functions(block)
        use_pairs(block)
        evaluate_texts(block)
        use_settings(block)
        name_getters(block)
        require_values(block)
        renew(block)
    set_globals(blocks)
    call_methods(blocks)
    use_called(blocks)
    fill_tables(blocks)
    use_own_metatables(blocks)
    use_functions(blocks)
    find_singletons(blocks, paths, loads)
