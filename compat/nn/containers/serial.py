"""``nn.Serial``: a module that is saved in another type than it computes in."""

from __future__ import annotations

from typing import Any

from compat.nn.containers.decorators import Decorator
from compat.nn.core.module import Module
from compat.nn.core.tree import Inner
from compat.tensor_types import parse_type


class Serial(Decorator):
    """A module that is saved, and copied, as another tensor type (Torch7: ``nn.Serial`` of dpnn).

    ``heavySerial``, ``mediumSerial`` and ``lightSerial`` set what else is left out of files and
    copies.

    Args:
        module: the module.
        tensortype: the type of tensors in files and copies, such as ``"torch.FloatTensor"``; by
            default that of the module.
    """

    module = Inner(0)
    scratch_fields = ("dpnn_typename",)
    tensortype: str | None = None

    def __init__(self, module: Module, tensortype: str | None = None) -> None:
        super().__init__(module)
        if tensortype is not None:
            parse_type(tensortype, "tensortype")
        self.tensortype = tensortype

    def __deepcopy__(self, memo: dict[int, Any]) -> Serial:
        new = super().__deepcopy__(memo)
        for module in new.listModules():
            module.empty_unsaved(module.__dict__)
        return new if self.tensortype in (None, self._type) else new.type(self.tensortype)

    def t7_fields(self) -> dict[str, Any]:
        if self.tensortype not in (None, self._type):
            return self.clone().t7_fields()
        return super().t7_fields()


Module.serial_decorator = Serial
