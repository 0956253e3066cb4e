"""What stands in nets for objects of classes that nobody has registered: they are kept there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compat import t7
from compat.tensor_tables import contents

# The fields in which Torch7's classes hold modules, and those in which they hold criterions.
_FIELDS = {
    "module": (
        *("modules", "module", "net", "rnns", "inputModule", "targetModule"),
        *("recurrentModule", "initialModule", "startModule", "feedbackModule", "transferModule"),
    ),
    "criterion": ("criterion", "criterions"),
}
_classes: dict[str, type[t7.TorchObject]] = {}


def stand_in(kind: str, cls: type[t7.TorchObject]) -> None:
    """Let ``cls`` stand for what is unknown where a ``kind`` belongs, ``module`` or ``criterion``.

    Its ``t7_restore`` is given the fields.
    """
    _classes[kind] = cls


def keep(kind: str, value: Any) -> None:
    """Make the unknown objects in the table ``value``, a place of that kind, what stands there."""
    cls = _classes[kind]
    for item in contents(value):
        if isinstance(item, t7.TorchObject) and not isinstance(item, cls):
            item.__class__ = cls
            # One that this place lies in itself has no fields yet; it will be given them.
            item.t7_restore(item.fields or {}, item.version)


def keep_in(fields: Mapping[Any, Any]) -> None:
    """``keep``, in all such places among the fields of a module or criterion of a file."""
    for kind, names in _FIELDS.items():
        for name in names:
            if name in fields:
                keep(kind, fields[name])
