"""Functions, as ``def`` and ``lambda``."""

from __future__ import annotations

from collections.abc import Set
from itertools import chain, count

from compat.port.know.scopes import FunctionScope, Variable
from compat.port.know.shapes import may_end
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.assignments import Assignments
from compat.port.write.code import Code
from compat.port.write.heads import IMPORTS
from compat.port.write.python_names import python_name

_LONGEST = 72  # of what a lambda computes


class Functions(Assignments):
    """What defines functions."""

    def _define(self, node: s.Define) -> None:
        function = node.function
        target = node.target
        if isinstance(target, s.Name):
            name = str(target.variable.python) if node.is_local else self.name_of(target)
            if "." in name:
                inner = name.split(".")[-1]
                self._define_function(inner, function)
                self.write(f"{name} = {inner}")
            else:
                self._define_function(name, function)
            return
        assert isinstance(target, s.Index)
        name = str(target.key.value) if isinstance(target.key, s.Constant) else "f"
        place = self._place(target)
        inner = self._free_name(name)
        self._define_function(inner, function)
        if place is None:
            self._store_code(target, Code(inner))
        else:
            self.write(f"{place} = {inner}")

    def _free_name(self, name: str) -> str:
        name = python_name(name)
        taken = {v.python for v in self._visible()} | set(IMPORTS)
        return _other_than(name, taken | set(self.file.scopes.globals))

    def function(self, node: s.Function, name: str) -> Code:
        """A function as an expression: a lambda where it is one expression, else its name."""
        simple = self._lambda(node)
        if simple is not None:
            return simple
        own = self._functions.setdefault(self.scope, set())
        inner = _other_than(self._free_name(name), own)
        own.add(inner)
        self._define_function(inner, node)
        return Code(inner)

    def _lambda(self, node: s.Function) -> Code | None:
        if len(node.body.statements) > 1 or node.body.ending:
            return None
        signature = self.types.signature(node).root()
        if not node.body.statements:
            nothing = "()" if signature.may_give_nothing else "None"
            return Code(f"lambda{self._lambda_parameters(node)}: {nothing}", code.LAMBDA)
        only = node.body.statements[0]
        if only.before or only.after:
            return None
        if isinstance(only, s.Return) and len(only.values) == 1:
            body = only.values[0]
        elif isinstance(only, s.Do):
            body = only.call
            if (signature.is_tried or signature.may_give_nothing) and self.types.count(body) != 0:
                return None  # its results are not the function's
            path = self.types.dotted(body.function) if isinstance(body, s.Call) else None
            if path in ("error", "assert", "collectgarbage", "require"):
                return None
        else:
            return None
        if any(isinstance(n, s.Function) for n in s.walk(body)):
            return None
        given, wanted = self.types.count(body), self.types.signature(node).root().count
        if given is not None and wanted is not None and given < wanted and wanted > 1:
            return None  # the others that may be called here give more
        outer = self.scope
        self.scope = self.file.scopes.of_function[node]
        before = len(self.lines)
        made = self.any(body)
        self.scope = outer
        if len(self.lines) != before:
            del self.lines[before:]
            return None
        self._mark_namesakes(node)
        if made.tells:
            self.tell()
        if made.counts:
            made = Code(f"lua.counted({made})")
        elif made.is_mask:
            made = Code(f"{made.atom}.byte()")
        text = made.text
        if text.startswith("*"):
            text = f"lua.results({text[1:]})"
        if len(text) > _LONGEST and not isinstance(body, s.Table):
            return None
        return Code(f"lambda{self._lambda_parameters(node)}: {text}", code.LAMBDA)

    def _lambda_parameters(self, node: s.Function) -> str:
        text = self._parameters(node)
        return f" {text}" if text else ""

    def _parameters(self, node: s.Function, skip: int = 0) -> str:
        signature = self.types.signature(node).root()
        least = min(signature.calls, default=None)
        most = max(signature.calls, default=0)
        parts = []
        optional = False
        for i, name in enumerate(node.parameters):
            if i < skip:
                continue
            optional = (
                optional
                or (least is not None and i >= least)
                or (i >= 3 and self._class is not None and self._class.parent is not None)
            )
            python = name.variable.python
            if python in {later.variable.python for later in node.parameters[i + 1 :]}:
                python = f"{python}_{i + 1}"  # the last of a name counts
            parts.append(f"{python}=None" if optional else python)
        if node.is_vararg:
            parts.append("*args")
        elif (
            signature.is_hook
            or most > len(node.parameters)
            or (signature.escapes and not parts and not signature.calls)
        ):
            parts.append("*_" if "_" not in parts else "*__")
        bound = self._bound(node)
        if bound:
            if parts and not any(p.startswith("*") for p in parts):
                parts.append("*")
            parts += [f"{name}={name}" for name in bound]
        return ", ".join(parts)

    def _bound(self, node: s.Function) -> list[str]:
        """Variables of a loop around, of which each function has its own."""
        scope = self.file.scopes.of_function[node]
        return sorted(
            v.python
            for v in scope.used
            if v.scope is not None
            and v.scope is scope.parent
            and v.loops > 0
            and (len(v.writes) == 1 or v.boxed)
            and v.declared is not None
            and v.declared.start < node.start
            and not v.is_parameter
            and v not in self.types.aliases
        )

    def _define_function(self, name: str, node: s.Function, decorator: str | None = None) -> None:
        if decorator:
            self.write(f"@{decorator}")
        self.write(f"def {name}({self._parameters(node)}):")
        self._function_body(node)

    def _function_body(self, node: s.Function) -> None:
        outer, loops, count, line = self.scope, self._loops, self._result_count, self._line
        was_open = self._is_open
        self.scope, self._loops = self.file.scopes.of_function[node], []
        signature = self.types.signature(node).root()
        self._result_count = signature.count or 0
        self._is_open = signature.may_give_nothing
        with self.indented():
            self._outer_names(self.scope)
            marks, self._marks = self._marks, []
            self._mark_namesakes(node)
            self.lines += self._shown_marks()
            self._marks = marks
            self.body(node.body)
            if self._is_open and may_end(node.body):
                self.write("return ()")
            elif self._result_count > 1 and may_end(node.body):
                self.write(f"return {', '.join(['None'] * self._result_count)}")
        self.scope, self._loops, self._result_count, self._line = outer, loops, count, line
        self._is_open = was_open

    def _mark_namesakes(self, node: s.Function) -> None:
        """Mark what a function may take for something else than it is."""
        names = [p.id for p in node.parameters if self._is_namesake(p)]
        if names:
            shown = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
            self.mark(f"no call tells {shown}: taken for what else has the name", "parameters")

    def _is_namesake(self, parameter: s.Name) -> bool:
        """Whether a parameter is known by its name alone, and numbers may depend on what it is."""
        variable: Variable = parameter.variable
        return (
            variable in self.types.namesakes
            and self.types.of(variable).may("table", "tensor", "int", "float", "number")
            and any(not self.types.was_seen(read) for read, _ in variable.reads)
        )

    def _outer_names(self, scope: FunctionScope) -> None:
        """``global`` and ``nonlocal``."""
        of_file: set[str] = set()
        of_function: set[str] = set()
        for variable in scope.used:
            if not any(where is scope for _, where in variable.writes):
                continue
            if variable in self.types.aliases or variable.boxed:
                continue
            if variable.is_global:
                if variable not in self.shared:
                    of_file.add(self._global_name(variable))
            elif variable.scope is self.file.scopes.file:
                of_file.add(variable.python)
            else:
                of_function.add(variable.python)
        if of_file:
            self.write(f"global {', '.join(sorted(of_file))}")
        if of_function:
            self.write(f"nonlocal {', '.join(sorted(of_function))}")


def _other_than(name: str, taken: Set[str]) -> str:
    """A name, with a number behind it if need be."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(n for n in chain([name], numbered) if n not in taken)
