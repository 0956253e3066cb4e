"""A file of Lua as a file of Python."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from compat.port import code, layout, library
from compat.port import syntax as s
from compat.port.carried import carried
from compat.port.code import Code
from compat.port.expressions import NONE, Expressions, is_length_of, method_name
from compat.port.inference import Class, File, Inference, is_open, is_self, required, tried
from compat.port.results import METHODS
from compat.port.scopes import PACKAGES, FunctionScope, Variable
from compat.port.types import Type

GUIDE = "docs/porting.md"

_IMPORTS = {
    **{name: f"import {name}" for name in ("functools", "math", "os", "re", "shutil", "subprocess",
                                           "sys", "time", "types")},
    "torch": "import torch",
    "torch7": "from compat import torch as torch7",
    "lua": "from compat.port import lua",
    "shared": "import shared",
    "dptable": "import dptable",
    "Threads": "from compat.threads import Threads",
    **{name: f"from compat import {name}" for name in ("cudnn", "cutorch", "graph", "image", "nn",
       "nngraph", "optim", "random", "t7", "xlua")},
}  # fmt: skip
_STANDARD = {"functools", "math", "os", "re", "shutil", "subprocess", "sys", "time", "types"}
_NEEDED_FOR_EFFECT = {"cunn": "import dptable  # noqa: F401, brings nn.DataParallelTable"}


@dataclass
class Line:
    """A line of the draft."""

    indent: int
    text: str
    comment: str | None = None
    source: int = 0


@dataclass
class Report:
    """What was open in a draft, and what it was resolved by."""

    sites: Counter[str] = field(default_factory=Counter)
    marks: list[tuple[int, str, str]] = field(default_factory=list)  # line in Lua, reason, anchor


class Draft(Expressions):
    """The Python of one file."""

    def __init__(self, file: File, types: Inference, shared: set[str]) -> None:
        self.file, self.types, self.shared = file, types, shared
        self._carried = carried(file, types)
        types.file = file
        self.scope: FunctionScope = file.scopes.file
        self.report = Report()
        self.lines: list[Line] = []
        self.indent = 0
        self._marks: list[tuple[str, str]] = []
        self._line = 0
        self._functions = 0
        self._hoisted: set[s.Statement] = set()
        self._loops: list[set[str]] = []
        self._class: Class | None = None
        self._effects: set[str] = set()
        self._uses_args = False
        self._result_count = 0
        self.exports: str | None = None
        self.sets_default = False
        self._is_seeded = self._has_nn = False
        self._modules: set[str] = set()

    # Writing

    def write(self, text: str, comment: str | None = None) -> None:
        self.lines.append(Line(self.indent, text, comment, self._line))

    @contextmanager
    def indented(self) -> Iterator[None]:
        self.indent += 1
        before = len(self.lines)
        yield
        if not any(line.text and not line.text.startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.indent -= 1

    def mark(self, reason: str, anchor: str) -> None:
        if (reason, anchor) not in self._marks:
            self._marks.append((reason, anchor))

    def resolve(self, how: str) -> None:
        self.report.sites[how] += 1

    # The file

    def text(self) -> str:
        """The whole file."""
        first = self.file.block.statements[0] if self.file.block.statements else None
        leading = [] if first is None else first.before
        if first is not None and not (None in leading and leading.index(None) < len(leading) - 1):
            first.before = []
        elif first is not None:
            cut = leading.index(None)
            first.before, leading = leading[cut + 1 :], leading[:cut]
        if self.sets_default:
            self.write('torch7.setdefaulttensortype("torch.DoubleTensor")', "as in Lua")
        self._first_values()
        self.body(self.file.block)
        if any(re.search(r"\blua\.(method|torch|package)\b", n.text) for n in self.lines):
            start = Line(0, "lua.start()", "for what only Torch7 has")
            self.lines.insert(1 if self.sets_default else 0, start)
        text = layout.arranged([(n.indent, n.text, n.comment) for n in self.lines])
        comments = "\n".join(line for line in leading if line is not None).rstrip("#\n ")
        comments = f"{comments}\n\n" if comments else ""
        return comments + self._head(text) + text

    def _first_values(self) -> None:
        """Global variables that only functions set are nil before."""
        late = [
            self._global_name(v)
            for v in self.file.scopes.written_globals
            if v.id not in self.shared
            and v.reads
            and v not in self.types.aliases
            and all(where is not self.file.scopes.file for _, where in v.writes)
        ]
        if late:
            self.write(f"{' = '.join(sorted(late))} = None")

    def _head(self, text: str) -> str:
        used = _names(text)
        standard = [_IMPORTS[n] for n in sorted(used & _STANDARD)]
        own = sorted(
            (_IMPORTS[n] for n in used & set(_IMPORTS) - _STANDARD - {"torch", "shared"}),
            key=lambda line: (line.split()[1], line),
        )
        compat = sorted(n.split("import ")[1] for n in own if n.startswith("from compat import")
                        and " as " not in n)  # fmt: skip
        if "nn.DataParallelTable" in text:
            self._effects.add("cunn")
        effects = {_NEEDED_FOR_EFFECT[n] for n in self._effects if n in _NEEDED_FOR_EFFECT}
        whole = sorted({"import torch"} & {_IMPORTS[n] for n in used & {"torch"}} | effects)
        rest = [n for n in own if not n.startswith("from compat import ") or " as " in n]
        if compat:
            rest.insert(0, f"from compat import {', '.join(compat)}")
        lines = [*standard, "", *whole, *rest]
        program = sorted(self._modules, key=lambda line: (line.startswith("from"), line))
        if "shared" in used:
            program.insert(0, "import shared")
        lines += ["", *program]
        head = re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))
        gap = "\n\n\n" if re.match(r"(#.*\n)*(def|class|@)", text) else "\n\n"
        return f"{head}{gap}" if head else ""

    # Blocks

    def body(self, block: s.Block) -> None:
        """The statements of a block."""
        for statement in block.statements:
            if statement in self._hoisted:
                continue
            self._comments(statement.before)
            self._line = statement.line
            start = len(self.lines)
            marks, self._marks = self._marks, []
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)
            if self._marks:
                own = (k for k in range(start, len(self.lines)) if self._is_own(self.lines[k]))
                at = next(own, start)
                self.lines[at:at] = self._shown_marks()
            self._marks = marks
            if statement.after:
                if (
                    len(self.lines) > start
                    and self.lines[-1].comment is None
                    and not isinstance(
                        statement,
                        (s.If, s.While, s.ForEach, s.ForRange, s.Define, s.Scope, s.Repeat),
                    )
                ):
                    self.lines[-1].comment = statement.after.lstrip("# ")
                else:
                    self.write(statement.after)
        self._comments(block.ending)

    def _is_own(self, line: Line) -> bool:
        """Whether a line is of the block that is being written, not of one inside it."""
        return line.indent == self.indent and bool(line.text.strip())

    def _shown_marks(self) -> list[Line]:
        """The marks of a statement, those of one kind together."""
        shown = []
        for anchor in dict.fromkeys(a for _, a in self._marks):
            reasons = [r for r, a in self._marks if a == anchor]
            unknown = [r[5:-17] for r in reasons if re.fullmatch("what .* is, is not known", r)]
            others = [r for r in reasons if not re.fullmatch("what .* is, is not known", r)]
            if len(unknown) > 1:
                unknown = [", ".join(unknown[:4]) + (" …" if len(unknown) > 4 else "")]
                others.insert(0, f"what these are is not known: {unknown[0]}")
            elif unknown:
                others.insert(0, f"what {unknown[0]} is, is not known")
            reason = "; ".join(others)
            self.report.marks.append((self._line, reason, anchor))
            text = f"# port: {reason} [{GUIDE}#port-{anchor}]"
            shown.append(Line(self.indent, text, None, self._line))
        return shown

    def _comments(self, lines: list[str | None]) -> None:
        for line in lines:
            if line is None:
                if self.lines and self.lines[-1].text:
                    self.write("")
            else:
                self.write(line)

    # Statements

    def _local(self, node: s.Local) -> None:
        if not node.values:
            names = [self._declared(n) for n in node.names]
            self.write(" = ".join([*names, "None"]))
            return
        if len(node.names) == 2 and (package := tried(node)) is not None:
            call = node.values[0]
            assert isinstance(call, s.Call)
            own_file = self.types.file_of(s.Call(call.function, call.arguments[1:]))
            has = package in _HERE or own_file is not None
            self._effect(package)
            targets = [self._declared(node.names[0])]
            if node.names[1].variable in self.types.aliases:
                self.write(f"{targets[0]} = {has}", f"{package} is {'' if has else 'not '}here")
            else:
                self.write(f"{targets[0]}, {self._declared(node.names[1])} = {has}, None")
            return
        pairs = [n for n in node.names if n.variable not in self.types.aliases]
        if len(node.names) == len(node.values) and len(pairs) < len(node.names):
            keep = [
                (n, v)
                for n, v in zip(node.names, node.values, strict=True)
                if n.variable not in self.types.aliases
            ]
            for value in node.values:
                if (name := required(value)) is not None:
                    self._effect(name)
                    self._first_nn(name)
            if not keep:
                return
            node.names, node.values = [n for n, _ in keep], [v for _, v in keep]
        klass = self._class_made(node)
        if klass is not None:
            self._class_statement(klass)
            return
        if self._import_as(node):
            return
        if (
            len(node.names) == 1
            and isinstance(node.values[0], s.Function)
            and len(node.values) == 1
        ):
            self._define_function(self._declared(node.names[0]), node.values[0])
            return
        self._assignment([self._declared(n) for n in node.names], list(node.names), node.values)

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

    def _declared(self, node: s.Name) -> str:
        name = str(node.variable.python)
        if (
            not node.variable.reads
            and len(node.variable.writes) == 1
            and self.scope is not self.file.scopes.file
            and not name.startswith("_")
        ):
            return f"_{name}"
        return name

    def name_of(self, node: s.Name) -> str:
        variable: Variable = node.variable
        if variable.is_global:
            from compat.port.scopes import python_name

            name = python_name(variable.id)
            if not variable.writes and not any(
                k.variable is None and k.name.split(".")[-1] == variable.id
                for k in self.types.classes.values()
            ):
                return str(library.value(variable.id, self))
            return f"shared.{name}" if variable.id in self.shared else name
        if (
            not variable.reads
            and len(variable.writes) == 1
            and variable.scope is not self.file.scopes.file
        ):
            return self._declared(node)
        return variable.python

    def _class_made(self, node: s.Statement) -> Class | None:
        """The class that a statement makes."""
        table = self._names(node) if isinstance(node, (s.Local, s.Assign)) else None
        for klass in self.types.classes.values():
            is_table = table is not None and not klass.is_torch and klass.variable is table
            if klass.node is node or is_table:
                return klass
        return None

    def _names(self, node: s.Local | s.Assign) -> Variable | None:
        target = node.names[0] if isinstance(node, s.Local) else node.targets[0]
        value = node.values[0] if node.values else None
        if not isinstance(target, s.Name) or not isinstance(value, s.Table):
            return None
        found: Variable = target.variable
        return found

    def _assignment(self, targets: list[str], nodes: list[s.Node], values: list[s.Node]) -> None:
        """``targets = values``."""
        hint = targets[0].split(".")[-1]
        hint = hint if hint.isidentifier() else "f"
        if len(targets) == 1 and len(values) == 1:
            made = self.any(values[0], hint)
            if made.counts:
                made = Code(f"{made.atom}[0]")
            self._put(targets[0], self._one(made))
            return
        last = values[-1]
        if len(values) == len(targets) or not is_open(last) or len(values) > len(targets):
            made_all = [self.value(v, hint) for v in values]
            for extra in made_all[len(targets) :]:
                if "(" in extra.text:
                    self.write(extra.text)
            made_all = made_all[: len(targets)]
            made_all += [NONE] * (len(targets) - len(made_all))
            if all(m.text == "None" for m in made_all):
                self.write(f"{' = '.join(targets)} = None")
                return
            self.write(f"{', '.join(targets)} = {', '.join(m.text for m in made_all)}")
            return
        first = [self.value(v, hint) for v in values[:-1]]
        made = self.any(last, hint)
        left = len(targets) - len(first)
        if made.counts and not first and left == 2:
            self.write(f"{', '.join(targets)} = {made}")
            if not targets[1].startswith("_"):
                self.write(f"{targets[1]} += 1", "it counts from 1")
            return
        if made.counts:
            made = Code(f"lua.counted({made})", spread=2)
        if isinstance(last, s.Vararg):
            made = Code("args")
            made = Code(f"lua.adjust(args, {left})")
        elif made.text.startswith("*") and self.types.count(last) == left:
            made = Code(made.text[1:])
        elif made.spread != left:
            if made.spread is not None and made.spread > left:
                made = Code(f"{made.atom}[:{left}]")
            elif made.spread == 1:
                first, made = [*first, made], Code(", ".join(["None"] * (left - 1)))
            else:
                inner = f"({made},)" if made.text.startswith("*") else made.text
                made = Code(f"lua.adjust({inner}, {left})")
        if first and made.text and "None" not in made.text.split(", "):
            made = Code(f"*{made.at(code.UNARY)}")
        self.write(f"{', '.join(targets)} = {', '.join([*(f.text for f in first), made.text])}")

    def _one(self, made: Code) -> Code:
        if made.is_mask:
            return Code(f"{made.atom}.byte()")
        if made.spread is None:
            if made.text.startswith("*"):
                inner = made.text[1:]
                return code.call("lua.first", inner)
            return code.call("lua.first", made)
        return made if made.spread in (0, 1) else Code(f"{made.atom}[0]")

    def _put(self, target: str, value: Code) -> None:
        # x = x + 1
        match = re.fullmatch(r"(\S+) ([-+*/]) (.+)", value.text)
        if (
            match
            and match[1] == target
            and target.isidentifier()
            and value.level in (code.ADD, code.MULTIPLY)
            and not re.search(r" [-+*/%@] ", match[3])
            and self._is_number(target)
        ):
            self.write(f"{target} {match[2]}= {match[3]}")
            return
        if value.text == target:
            return
        self.write(f"{target} = {value}")

    def _is_number(self, target: str) -> bool:
        kinds = [
            kind
            for variable, kind in self.types.variables.items()
            if variable.python == target and (variable.scope is None or variable in self._visible())
        ]
        return bool(kinds) and all(k.is_number for k in kinds)

    def _visible(self) -> set[Variable]:
        found: set[Variable] = set()
        scope: FunctionScope | None = self.scope
        while scope is not None:
            found |= set(scope.variables)
            scope = scope.parent
        return found

    def _assign(self, node: s.Assign) -> None:
        if node in self._carried:
            self.mark(
                f"{self._carried[node]} is used after a forward that overwrites it in Torch7",
                "outputs",
            )
        klass = self._class_made(node)
        if klass is not None:
            is_index = isinstance(node.targets[0], s.Index)
            if not is_index:
                self._class_statement(klass)
            return
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, s.Name) and target.variable in self.types.aliases:
                if (name := required(node.values[0])) is not None:
                    self._effect(name)
                return
            if isinstance(target, s.Index):
                self._store(target, node.values)
                return
            if isinstance(node.values[0], s.Function) and isinstance(target, s.Name):
                name = self.name_of(target)
                if "." not in name:
                    self._define_function(name, node.values[0])
                    return
        targets = []
        late: list[tuple[str, s.Index]] = []
        for target in node.targets:
            if isinstance(target, s.Name):
                targets.append(self.name_of(target))
            else:
                assert isinstance(target, s.Index)
                place = self._place(target)
                if place is None:
                    name = f"value_{len(late) + 1}"
                    late.append((name, target))
                    targets.append(name)
                else:
                    targets.append(place)
        self._assignment(targets, node.targets, node.values)
        for name, target in late:
            self._store_code(target, Code(name))

    def _place(self, node: s.Index) -> str | None:
        """``object[key]`` as the target of an assignment; None if that takes a function."""
        kind = self.types.type(node.object)
        klass = self.types.class_of(node.object)
        name = node.key.value if isinstance(node.key, s.Constant) else None
        word = isinstance(name, str) and name.isidentifier()
        owner = self.value(node.object)
        path = self.types.dotted(node.object)
        if path in PACKAGES and word:
            return f"{path}.{name}"
        if kind.only("object") and kind.shape is None:
            return None
        if word and (klass is not None or kind.only("object", "class", "module", "options", "nil")):
            return f"{owner.atom}.{method_name(str(name))}"
        if kind.only("pointer"):
            return f"{owner.atom}[{self.value(node.key)}]"
        if kind.is_tensor and (
            self.types.type(node.key).may("table", "sizes")
            or self.types.type(node.key).is_number
            or (self.types.type(node.key).only("mask", "tensor"))
        ):
            made, _ = self.selection(owner, node.key, kind)
            if made.text.startswith("lua."):
                return None
            return f"{owner.atom}[:]" if made.text == owner.text else made.text
        if kind.only("table", "nil") and kind.shape is not None and "meta" not in kind.shape.uses:
            if kind.shape.is_list:
                written = self.types.facts.get((self.file.path, node.key.start, -node.key.end))
                if written == ["over"]:
                    return f"{owner.atom}[{self.place(node.key)}]"
                return None
            return f"{owner.atom}[{self.value(node.key)}]"
        return None

    def _store(self, target: s.Index, values: list[s.Node]) -> None:
        """``object[key] = value``."""
        name = target.key.value if isinstance(target.key, s.Constant) else None
        hint = name if isinstance(name, str) and name.isidentifier() else "f"
        value_node = values[0]
        if isinstance(name, str) and name == "__index" and self.types.class_of(target.object):
            return
        is_nil = isinstance(value_node, s.Constant) and value_node.value is None
        if is_nil and self._delete(target):
            return
        made = self._one(self.any(value_node, str(hint)))
        if made.counts:
            made = Code(f"{made.atom}[0]")
        for extra in values[1:]:
            self.write(self.value(extra).text)
        self.resolve(self.how(target.object))
        kind = self.types.type(target.object)
        if self._is_method(str(name), kind, value_node) and not self.types.dotted(target.object):
            made = code.call("types.MethodType", made, self.value(target.object))
        self._store_code(target, made)

    def _is_method(self, name: str, owner: Type, value: s.Node) -> bool:
        """Whether a function that is put into an object is called with it."""
        if owner.only("module"):
            return name in METHODS and isinstance(value, s.Function)
        signature = self.types.type(value).signature if owner.only("object") else None
        if signature is None or owner.shape is None or isinstance(value, s.Index):
            return False
        return bool(signature.nodes) and all(map(is_self, signature.nodes))

    def _store_code(self, target: s.Index, value: Code) -> None:
        place = self._place(target)
        if place is not None:
            self._put(place, value)
            return
        kind = self.types.type(target.object)
        owner = self.value(target.object)
        if kind.only("sizes") and isinstance(target.object, s.Name):
            self.write(f"{owner} = lua.resized({owner}, {self.value(target.key)}, {value})")
            return
        if kind.only("table") and kind.shape is not None and kind.shape.is_list:
            key = target.key
            written = self.types.facts.get((self.file.path, key.start, -key.end))
            appends = (
                isinstance(key, s.Binary)
                and key.operator == "+"
                and isinstance(key.right, s.Constant)
                and key.right.value == 1
                and self._is_length(key.left, target.object)
            )
            if appends or written == ["append"]:
                self.write(f"{owner.atom}.append({value})")
                return
            self.write(f"lua.put({owner}, {self.value(key)}, {value})")
            return
        if not kind.atoms:
            from compat.port.expressions import describe

            self.mark(f"what {describe(target.object)} is, is not known", "indices")
        self.write(f"lua.put({owner}, {self.value(target.key)}, {value})")

    def _is_length(self, node: s.Node, owner: s.Node) -> bool:
        from compat.port.expressions import describe

        if is_length_of(node, owner):
            return True
        return (
            isinstance(node, s.Unary)
            and node.operator == "#"
            and describe(node.operand) == describe(owner)
            and "…" not in describe(owner)
        )

    def _delete(self, target: s.Index) -> bool:
        """``t[key] = nil``."""
        kind = self.types.type(target.object)
        if not kind.only("table") or kind.shape is None or "meta" in kind.shape.uses:
            return False
        owner = self.value(target.object)
        if kind.shape.is_list:
            if is_length_of(target.key, target.object):
                self.write(f"{owner.atom}.pop()")
                return True
            return False
        self.write(f"{owner.atom}.pop({self.value(target.key)}, None)")
        return True

    def _do(self, node: s.Do) -> None:
        call = node.call
        assert isinstance(call, s.Call)
        klass = self._class_made(node)
        if klass is not None:
            self._class_statement(klass)
            return
        path = self.types.dotted(call.function) if call.method is None else None
        if path in ("torch.manualSeed", "torch.setRNGState") and not self._loops:
            self._is_seeded = True
        if (name := required(call)) is not None and name in PACKAGES | {
            "pl",
            "nnx",
            "env",
            "trepl",
        }:
            self._effect(name)
            self._first_nn(name)
            return
        if path == "require" and self.types.file_of(call) is None and name in _SILENT:
            return
        if path == "collectgarbage" or path in _NOTHING:
            return
        if path == "error":
            self._error(call)
            return
        if path == "torch.setmetatable" and isinstance(call.arguments[0], s.Name):
            self.write(f"{self.value(call.arguments[0])} = {self.any(call)}")
            return
        if path == "assert" and call.arguments:
            condition = self.truth(call.arguments[0])
            if (len(call.arguments) > 1 and not is_open(call.arguments[1])) or len(
                call.arguments
            ) > 1:
                self.write(f"assert {condition}, {self.value(call.arguments[1])}")
            else:
                self.write(f"assert {condition}")
            return
        made = self.any(call)
        if made.text.startswith("*"):
            made = Code(f"[{made}]")
        if not re.fullmatch(r"[\w.]+|0", made.text):
            self.write(made.text)

    def _first_nn(self, name: str) -> None:
        """``require 'nn'`` draws four random numbers in Lua, which counts after a seed."""
        if name in _BRING_NN and not self._has_nn:
            self._has_nn = True
            if self._is_seeded:
                self.write("for _ in range(4):  # as require 'nn' does in Lua")
                with self.indented():
                    self.write("torch7.random()")

    def _error(self, call: s.Call) -> None:
        if not call.arguments:
            self.write("raise lua.Error(None)")
            return
        kind = self.types.type(call.arguments[0])
        made = self.value(call.arguments[0])
        if kind.is_string:
            self.write(f"raise RuntimeError({made})")
        else:
            self.write(f"raise lua.Error({made})")

    def _effect(self, name: str) -> None:
        self._effects.add(name)

    def _scope(self, node: s.Scope) -> None:
        self.body(node.body)

    def _while(self, node: s.While) -> None:
        condition = self.truth(node.condition)
        self.write(f"while {condition}:")
        self._loop(node.body)

    def _loop(self, block: s.Block, ending: s.Node | None = None) -> None:
        """The body of a loop."""
        labels = {n.name for n in block.statements if isinstance(n, s.Label)}
        self._loops.append(labels)
        with self.indented():
            self.body(block)
            if ending is not None:
                self.write(f"if {self.truth(ending)}:")
                with self.indented():
                    self.write("break")
        self._loops.pop()

    def _repeat(self, node: s.Repeat) -> None:
        self.write("while True:")
        self._loop(node.body, node.condition)

    def _if(self, node: s.If) -> None:
        for i, (condition, block) in enumerate(node.clauses):
            if condition is None:
                self.write("else:")
            else:
                before = len(self.lines)
                test = self.truth(condition)
                if len(self.lines) > before and i:
                    # Functions that the condition needs stand before the whole statement.
                    pass
                self.write(f"{'elif' if i else 'if'} {test}:")
            with self.indented():
                self.body(block)

    def _forrange(self, node: s.ForRange) -> None:
        first, last = self.types.type(node.first), self.types.type(node.last)
        step = node.step
        step_is_int = step is not None and self.types.type(step).is_int
        variable = node.name.variable
        name = str(variable.python)
        if not variable.reads and len(variable.writes) == 1:
            name = "_"
        whole = self._whole(node)
        a, b = self.value(node.first), self.value(node.last)
        if first.is_int and whole is not None and (step is None or _constant_int(step)):
            by = _constant_int(step) if step is not None else 1
            assert by is not None
            if not last.is_int:
                b = code.call(whole, b)
            variable.zero_based = by == 1 and a.text == "1" and self._only_index(node)
            if variable.zero_based or (name == "_" and a.text == "1" and by == 1):
                over = code.call("range", b)
            else:
                stop = code.shifted(b, 1 if by > 0 else -1)
                start = [] if a.text == "0" and by == 1 else [a]
                over = code.call("range", *start, stop, *([str(by)] if by != 1 else []))
        elif first.is_int and last.is_int and a.text == "1" and step is not None and step_is_int:
            # From 1 on there is nothing to do for a step that leads down.
            over = code.call("range", a, code.shifted(b, 1), self.value(step))
        else:
            extra = [self.value(step)] if step is not None else []
            over = code.call("lua.range", a, b, *extra)
        self.write(f"for {name} in {over}:")
        self._body_of_loop(node.body, [node.name])

    def _whole(self, node: s.ForRange) -> str | None:
        """What makes an int of the last number of a loop; None where it may be none."""
        last = self.types.type(node.last)
        if last.is_int:
            return ""
        facts = self.types.facts.get((self.file.path, node.last.start, node.last.end))
        if facts and all(f == "int" for f in facts):
            return "int"
        if last.is_number and facts is None:
            return "math.floor" if not isinstance(node.last, s.Constant) else None
        return "math.floor" if last.is_number else None

    def _only_index(self, node: s.ForRange) -> bool:
        """Whether a loop's number is nothing but an index of lists and tensors."""
        variable = node.name.variable
        uses = 0
        for part in s.walk(node.body):
            if not isinstance(part, s.Index):
                continue
            kind = self.types.type(part.object)
            is_plain = kind.is_tensor or (
                kind.only("table")
                and kind.shape is not None
                and kind.shape.is_list
                and "nil" not in self.types.type(part).atoms
            )
            if isinstance(part.key, s.Name) and part.key.variable is variable and is_plain:
                uses += 1
            if isinstance(part.key, s.Table) and kind.is_tensor:
                for entry in part.key.fields:
                    inner = entry.value.fields if isinstance(entry.value, s.Table) else [entry]
                    uses += sum(
                        isinstance(f.value, s.Name) and f.value.variable is variable for f in inner
                    )
        written = any(
            isinstance(t, s.Index)
            and isinstance(t.key, s.Name)
            and t.key.variable is variable
            and not self.types.type(t.object).is_tensor
            for n in s.walk(node.body)
            if isinstance(n, s.Assign)
            for t in n.targets
        )
        return uses == len(variable.reads) > 0 and len(variable.writes) == 1 and not written

    def _body_of_loop(self, block: s.Block, names: list[s.Name]) -> None:
        self._loop(block)

    def _foreach(self, node: s.ForEach) -> None:
        names = []
        for name in node.names:
            unused = not name.variable.reads and len(name.variable.writes) == 1
            python = str(name.variable.python)
            names.append(
                python if not unused else python if python.startswith("_") else f"_{python}"
            )
        over = self._iterated(node, names)
        self.write(f"for {', '.join(names)} in {over}:")
        self._body_of_loop(node.body, node.names)

    def _iterated(self, node: s.ForEach, names: list[str]) -> Code:
        first = node.values[0]
        path = None
        if isinstance(first, s.Call) and len(node.values) == 1:
            path = self.types.dotted(first.function) if first.method is None else None
            if path in ("ipairs", "pairs") and len(first.arguments) == 1:
                return self._over_table(first.arguments[0], path, node, names)
            if path in _ITERATORS or first.method in ("gmatch", "lines"):
                functions = {"paths.iterfiles": "lua.iterfiles", "paths.iterdirs": "lua.iterdirs",
                             "paths.files": "lua.files", "lfs.dir": "lua.files"}  # fmt: skip
                if path in functions:
                    return code.call(functions[path], *self.arguments(first))
                return self.value(first)
        made = self.values(node.values)
        return code.call("lua.iterate", str(len(names)), *made)

    def _over_table(self, table: s.Node, path: str, node: s.ForEach, names: list[str]) -> Code:
        kind = self.types.type(table)
        shape = kind.shape
        self.resolve(self.how(table) if kind.atoms else "open")
        owner = self.value(table)
        no_key = not node.names[0].variable.reads and len(node.names) == 2
        plain = kind.only("table") and shape is not None and "meta" not in shape.uses
        if plain and shape is not None and shape.is_list:
            if no_key and len(node.names) == 2:
                del names[0]
                return owner
            if len(names) == 1:
                return Code(f"range(1, len({owner}) + 1)")
            return code.call("enumerate", owner, "1")
        if kind.only("sizes"):
            return code.call("enumerate", owner, "1")
        if path == "pairs" and plain and shape is not None and (shape.keys or shape.names):
            changed = "deleted" in shape.uses
            if len(names) == 1:
                return code.call("list", owner) if changed else owner
            if no_key:
                del names[0]
                inner = Code(f"{owner.atom}.values()")
            else:
                inner = Code(f"{owner.atom}.items()")
            return code.call("list", inner) if changed else inner
        if path == "pairs" and kind.only("options"):
            if len(names) == 1:
                return owner
            return Code(f"{owner.atom}.items()")
        if not kind.atoms:
            from compat.port.expressions import describe

            self.mark(f"what {describe(table)} is, is not known", "loops")
        made = code.call(f"lua.{path}", owner)
        if len(names) == 1:
            names.append("_")
        return made

    def _return(self, node: s.Return) -> None:
        if self.scope is self.file.scopes.file:
            self._file_result(node)
            return
        count = self._result_count
        if not node.values:
            if count > 1:
                self.write(f"return {', '.join(['None'] * count)}")
            else:
                self.write("return" if count == 0 else "return None")
            return
        last = node.values[-1]
        if len(node.values) == 1:
            made = self.any(last, "f")
            if made.text.startswith("*") and isinstance(last, s.Vararg):
                self.write("return lua.results(args)")
                return
            if made.text.startswith("*"):
                self.write(f"return lua.results({made.text[1:]})")
                return
            if made.counts:
                self.write(f"return lua.counted({made})")
                return
            if made.is_mask:
                made = Code(f"{made.atom}.byte()")
            own = self.types.count(last)
            if count > 1 and own is not None and own < count:
                values = [f"*{made.atom}" if own > 1 else made.text] + ["None"] * (
                    count - max(own, 1)
                )
                self.write(f"return {', '.join(values)}")
            elif own == 0 and isinstance(last, s.Call) and count == 0:
                self.write(made.text)
                self.write("return")
            else:
                self.write(f"return {made}")
            return
        made_all = self.values(node.values)
        own_count = len(node.values) - 1 + (self.types.count(last) or 1)
        values = [m.text for m in made_all]
        if count > own_count and not values[-1].startswith("*"):
            values += ["None"] * (count - own_count)
        self.write(f"return {', '.join(values)}")

    def _file_result(self, node: s.Return) -> None:
        if len(node.values) == 1 and isinstance(node.values[0], s.Name):
            self.exports = self.name_of(node.values[0])
            if self.types.loads_by_name and self.exports != "exports":
                self.write(f"exports = {self.exports}")
            return
        if node.values:
            self.exports = "exports"
            made = [m.text for m in self.values(node.values[:1], "exports")]
            if made[0] != "exports":
                self.write(f"exports = {made[0]}")
        else:
            self.write("sys.exit()")

    def _jump(self, node: s.Jump) -> None:
        if node.label is None:
            self.write("break")
        elif self._loops and node.label in self._loops[-1]:
            self.write("continue")
        else:
            self.mark("Python has no goto", "goto")
            self.write(f'raise NotImplementedError("goto {node.label}")')

    def _label(self, node: s.Label) -> None:
        pass

    # Functions

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
        from compat.port.scopes import python_name

        name = python_name(name)
        taken = {v.python for v in self._visible()} | set(_IMPORTS)
        if name not in taken and name not in self.types.files[0].scopes.globals:
            return name
        self._functions += 1
        return f"{name}_{self._functions}"

    def function(self, node: s.Function, name: str) -> Code:
        """A function as an expression: a lambda where it is one expression, else its name."""
        simple = self._lambda(node)
        if simple is not None:
            return simple
        inner = self._free_name(name)
        if inner in {line.text.split("(")[0].removeprefix("def ") for line in self.lines[-200:]}:
            self._functions += 1
            inner = f"{inner}_{self._functions}"
        self._define_function(inner, node)
        return Code(inner)

    def _lambda(self, node: s.Function) -> Code | None:
        if len(node.body.statements) > 1 or node.body.ending:
            return None
        if not node.body.statements:
            return Code(f"lambda{self._lambda_parameters(node)}: None", code.LAMBDA)
        only = node.body.statements[0]
        if only.before or only.after:
            return None
        if isinstance(only, s.Return) and len(only.values) == 1:
            body = only.values[0]
        elif isinstance(only, s.Do):
            body = only.call
            path = self.types.dotted(body.function) if isinstance(body, s.Call) else None
            if path in ("error", "assert", "collectgarbage", "require"):
                return None
        else:
            return None
        if any(isinstance(n, s.Function) for n in s.walk(body)):
            return None
        outer = self.scope
        self.scope = self.file.scopes.of_function[node]
        before = len(self.lines)
        made = self.any(body)
        self.scope = outer
        if len(self.lines) != before:
            del self.lines[before:]
            return None
        if made.counts:
            made = Code(f"lua.counted({made})")
        elif made.is_mask:
            made = Code(f"{made.atom}.byte()")
        text = made.text
        if text.startswith("*"):
            text = f"lua.results({text[1:]})"
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
            parts.append(f"{name.variable.python}=None" if optional else name.variable.python)
        if node.is_vararg:
            parts.append("*args")
        elif most > len(node.parameters) or (
            signature.escapes and not parts and not signature.calls
        ):
            parts.append("*_")
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
            and len(v.writes) == 1
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
        self.scope, self._loops = self.file.scopes.of_function[node], []
        signature = self.types.signature(node).root()
        self._result_count = signature.count or 0
        with self.indented():
            self._outer_names(self.scope)
            self.body(node.body)
            last = node.body.statements[-1] if node.body.statements else None
            if self._result_count > 1 and not isinstance(last, s.Return):
                self.write(f"return {', '.join(['None'] * self._result_count)}")
        self.scope, self._loops, self._result_count, self._line = outer, loops, count, line

    def _outer_names(self, scope: FunctionScope) -> None:
        """``global`` and ``nonlocal``."""
        of_file: set[str] = set()
        of_function: set[str] = set()
        for variable in scope.used:
            if not any(where is scope for _, where in variable.writes):
                continue
            if variable in self.types.aliases:
                continue
            if variable.is_global:
                if variable.id not in self.shared:
                    of_file.add(self._global_name(variable))
            elif variable.scope is self.file.scopes.file:
                of_file.add(variable.python)
            else:
                of_function.add(variable.python)
        if of_file:
            self.write(f"global {', '.join(sorted(of_file))}")
        if of_function:
            self.write(f"nonlocal {', '.join(sorted(of_function))}")

    def _global_name(self, variable: Variable) -> str:
        from compat.port.scopes import python_name

        return python_name(variable.id)

    # Classes

    def _class_statement(self, klass: Class) -> None:
        """A class with all its methods."""
        name = self.class_name(klass)
        base = "lua.Object"
        typename = f', typename="{klass.name}"' if klass.is_torch else ""
        if klass.parent:
            parent = self.types.classes.get(klass.parent)
            base = self.class_name(parent) if parent is not None else klass.parent
        self.write(f"class {name}({base}{typename}):")
        outer, self._class = self._class, klass
        with self.indented():
            for number, (method, define) in enumerate(klass.methods.items()):
                if number:
                    self.write("")
                self._hoisted.add(define)
                self._comments([c for c in define.before if c is not None])
                self._method(method, define, klass)
        self._class = outer
        if klass.holder is not None:
            plain = klass.name.rpartition(".")[2]
            self._store_code(s.Index(klass.holder, s.Constant(plain)), Code(name))
        if (
            klass.variable is not None
            and klass.variable.is_global
            and klass.variable.id in self.shared
        ):
            self.write(f"shared.{name} = {name}")

    def _method(self, method: str, define: s.Define, klass: Class) -> None:
        function = define.function
        name = method_name(method)
        if define.is_method or is_self(function):
            self._define_function(name, function)
        else:
            self._define_function(name, function, "staticmethod")

    def call(self, node: s.Call) -> Code:
        """A call; one of a parent's method is ``super()``."""
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
                name = method_name(path.rpartition(".")[2])
                rest = s.Call(node.function, node.arguments[1:], None)
                return code.call(f"super().{name}", *self.arguments(rest))
        return super().call(node)

    def imported(self, node: s.Call) -> Code:
        """``require`` or ``dofile`` of a file of the program."""
        file = self.types.file_of(node)
        assert file is not None
        result = _returned(file)
        if result is None:
            self.write(f"import {file.module}  # noqa: E402, F401")
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

    def bring(self, module: str, name: str) -> None:
        """Import a name from another file of the program."""
        self._modules.add(f"from {module} import {name}")

    def _names_import(self, name: str) -> bool:
        """Whether a variable of the file only names what an import brings under its name."""
        found = [v for v in self.file.scopes.file.variables if v.python == name]
        return len(found) == 1 and len(found[0].writes) == 1


_HERE = {
    "nn",
    "cunn",
    "cutorch",
    "cudnn",
    "optim",
    "image",
    "nngraph",
    "rnn",
    "dpnn",
    "xlua",
    "threads",
}
_ITERATORS = {
    *("string.gmatch", "io.lines", "lfs.dir"),
    *("paths.iterfiles", "paths.iterdirs", "paths.files", "paths.dir"),
}
_BRING_NN = {"nn", "nngraph", "cunn", "rnn", "dpnn", "cudnn", "nnx"}
_NOTHING = {"torch.setheaptracking", "cudnn.fastest"}
_SILENT = {"pl", "env", "trepl", "nnx", "lfs", "dok", "totem", "torchx", "hdf5"}


def _returned(file: File) -> str | None:
    """The name of what a file returns."""
    last = file.block.statements[-1] if file.block.statements else None
    if not isinstance(last, s.Return) or not last.values:
        return None
    value = last.values[0]
    if len(last.values) == 1 and isinstance(value, s.Name):
        return str(value.variable.python)
    return "exports"


def _constant_int(node: s.Node) -> int | None:
    if isinstance(node, s.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, s.Unary) and node.operator == "-":
        inner = _constant_int(node.operand)
        return -inner if inner is not None else None
    return None


def _names(text: str) -> set[str]:
    """The names that a program reads."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        lines = text.splitlines()
        line = lines[(error.lineno or 1) - 1] if lines else ""
        raise AssertionError(f"the draft is no Python: {error.msg}: {line}") from None
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
