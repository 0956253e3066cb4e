"""Calls, those that load files among them, and the imports that they become."""

from __future__ import annotations

from compat.port.know.files import File
from compat.port.know.shapes import required
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.classes import Classes
from compat.port.write.code import Code
from compat.port.write.values import NONE

_BRING_NN = {"nn", "nngraph", "cunn", "rnn", "dpnn", "cudnn", "nnx"}


class Imports(Classes):
    """What calls, and loads files."""

    def _import_as(self, node: s.Local) -> bool:
        """``local name = require 'file'``: an import under this name."""
        if len(node.names) != 1 or len(node.values) != 1 or self.scope is not self.file.scopes.file:
            return False
        variable = node.names[0].variable
        call = node.values[0]
        file = self.types.file_of(call) if isinstance(call, s.Call) else None
        result = _returned(file) if file is not None and required(call) is not None else None
        if file is None or result is None or len(variable.writes) != 1:
            return False
        name = str(variable.python)
        text = f"from {file.module} import {result}"
        self._modules.add(text if name == result else f"{text} as {name}")
        return True

    def _first_nn(self, name: str) -> None:
        """``require 'nn'`` draws four random numbers in Lua, which counts after a seed."""
        if name in _BRING_NN and not self._has_nn:
            self._has_nn = True
            if self._is_seeded:
                self.write("for _ in range(4):  # as require 'nn' does in Lua")
                with self.indented():
                    self.write("torch7.random()")

    def call(self, node: s.Call) -> Code:
        """A call; one of a parent's method is ``super()``."""
        if node in self._flattened_again:
            self.mark(
                "in Torch7 the tensors of the earlier getParameters are the net's no more", "flat"
            )
        klass = self._class
        if klass is not None and klass.parent and node.method is None:
            path = self.types.dotted(node.function)
            first = node.arguments[0] if node.arguments else None
            if (
                path is not None
                and path.rpartition(".")[0] == klass.parent
                and isinstance(first, s.Name)
                and first.id == "self"
            ):
                name = self._method_name(path.rpartition(".")[2], klass)
                rest = s.Call(node.function, node.arguments[1:], None)
                return code.call(f"super().{name}", *self.arguments(rest))
        return super().call(node)

    def imported(self, node: s.Call) -> Code:
        """``require`` or ``dofile`` of a file of the program."""
        file = self.types.file_of(node)
        assert file is not None
        result = _returned(file)
        if result is None:
            self.write(f'importlib.import_module("{file.module}")')
            return NONE
        name = result
        taken = {v.python for v in self._visible()} | {v.id for v in file.scopes.globals.values()}
        own = file.module.replace(".", "_")
        is_taken = result in taken and not self._names_import(result)
        other = any(
            line.endswith(f" import {result}") and f" {file.module} " not in line
            for line in self._modules
        )
        if result == "exports" or is_taken or other:
            name = f"{own}_{result}" if result == "exports" or other else f"{own}_"
        text = f"from {file.module} import {result}"
        self._modules.add(text if name == result else f"{text} as {name}")
        return Code(name)

    def bring(self, module: str, name: str, known_as: str) -> None:
        """Import a name from another file of the program."""
        text = f"from {module} import {name}"
        self._modules.add(text if name == known_as else f"{text} as {known_as}")

    def load(self, file: File, at_once: bool) -> None:
        """Load a file for what it does; one that makes classes with all that are imported."""
        if at_once or all(k.module != file.module for k in self.types.classes.values()):
            self.write(f'importlib.import_module("{file.module}")')
        else:
            self._loaded.append(file.module)

    def loads(self) -> set[str]:
        """The imports of files that nothing else is taken from."""
        return {
            f"import {module}  # noqa: F401"
            for module in self._loaded
            if not any(line.startswith(f"from {module} import ") for line in self._modules)
        }

    def _names_import(self, name: str) -> bool:
        """Whether a variable of the file only names what an import brings under its name."""
        found = [v for v in self.file.scopes.file.variables if v.python == name]
        return len(found) == 1 and len(found[0].writes) == 1


def _returned(file: File) -> str | None:
    """The name of what a file returns."""
    last = file.block.statements[-1] if file.block.statements else None
    if not isinstance(last, s.Return) or not last.values:
        return None
    value = last.values[0]
    if len(last.values) == 1 and isinstance(value, s.Name):
        return str(value.variable.python)
    return "exports"
