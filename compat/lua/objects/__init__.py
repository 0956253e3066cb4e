"""Objects of Python's classes in Lua: tables whose fields and methods are Python's."""

from __future__ import annotations

import threading
from typing import Any

from torch import Tensor

from compat import thread_calls
from compat.lua.gpu_types import gpu_of
from compat.lua.objects.classes import Classes
from compat.lua.objects.converters import Converters, flatten, nll_forward, nll_updateOutput
from compat.lua.objects.fields import Fields
from compat.lua.objects.files import Files
from compat.lua.runtime import Runtime
from compat.nn.core.convertible import Convertible
from compat.nn.core.node import Node
from compat.nn.core.results import buffer_reuse
from compat.optim.support.recomputed import Recomputed


def install(runtime: Runtime) -> Any:
    """Prepare a runtime for nets. Returns what Lua calls."""
    runtime.exchange.instance_kinds = (Convertible, Node)
    # What an optimizer computes when somebody reads it: once is enough for what Lua may read.
    runtime.represent(Recomputed, Tensor.detach)
    thread_calls.accept()
    runtime.home = threading.get_ident()
    runtime.settings.set(buffer_reuse, "on", runtime.reuses_buffers)
    classes = Classes(runtime, Converters(runtime).methods())
    parts = (classes, Fields(runtime, classes), Files(runtime, classes))
    functions = {name: function for part in parts for name, function in part.functions().items()}
    return runtime.faces(
        functions
        | {
            "gpu_of": gpu_of,
            "nll_updateOutput": nll_updateOutput,
            "nll_forward": nll_forward,
            "flatten": flatten,
        }
    )
