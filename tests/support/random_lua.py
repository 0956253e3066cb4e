"""Random Lua programs for drafts: each ends, and prints what it computes."""

from __future__ import annotations

import random

WORDS = ["alpha", "b", "", "Gamma ray", "0", "12", "x=1, y=2", "path/to/file.txt", "  pad "]
NAMES = [
    "a",
    "b",
    "count",
    "data",
    "f",
    "i",
    "items",
    "k",
    "n",
    "name",
    "s",
    "t",
    "total",
    "x",
    "y",
]
FIELDS = ["name", "size", "x", "y", "next", "items"]
PATTERNS = ["%a+", "%d", "(%w+)=(%w+)", "^%s*(.-)%s*$", "[^/]+$", ".", "a", "l*", "%s", "(a)(.)"]


class Program:
    """Writes a program. A variable has one kind: number, string, boolean, list, map, object …"""

    def __init__(self, seed: int, number: int) -> None:
        self.random = random.Random(seed * 1_000_003 + number)
        self.lines: list[str] = []
        self.indent = 0
        self.scopes: list[dict[str, str]] = [{}]
        self.loops: list[str] = []
        self.count = 0
        self.functions: list[tuple[str, int, tuple[str, ...]]] = []
        self.classes: list[str] = []
        self.is_vararg = False
        self.in_function = 0

    def text(self) -> str:
        for _ in range(self.random.randint(5, 14)):
            self.statement(2)
        self.write(f"print({', '.join(self.value() for _ in range(3))})")
        return "\n".join(self.lines) + "\n"

    # Pieces

    def write(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    def some(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def new(self, kind: str) -> str:
        """A variable that is declared here; the name may hide another."""
        name = self.random.choice(NAMES)
        self.scopes[-1][name] = kind
        return name

    def known(self, kind: str) -> list[str]:
        found: dict[str, str] = {}
        for scope in self.scopes:
            found |= scope
        return [name for name, k in found.items() if k == kind]

    def variable(self, kind: str) -> str | None:
        names = self.known(kind)
        return self.random.choice(names) if names else None

    # Expressions

    def value(self, depth: int = 2) -> str:
        return self.of(self.some("number", "number", "string", "boolean", "any"), depth)

    def of(self, kind: str, depth: int = 2) -> str:
        return str(getattr(self, kind)(depth))

    def any(self, depth: int) -> str:
        choice = self.random.randrange(9)
        if choice == 0:
            return "nil"
        if choice == 1 and (name := self.variable("list")):
            return f"({name}[{self.random.randint(0, 4)}] or 0)"
        if choice == 2 and (name := self.variable("map")):
            return f"{name}.{self.some(*FIELDS)}"
        if choice == 3 and depth:
            return f"{self.value(depth - 1)} {self.some('and', 'or')} {self.value(depth - 1)}"
        if choice == 4 and depth and self.functions:
            return self.call(depth)
        if choice == 5 and depth:
            return f"({self.value(depth - 1)})"
        if choice == 6 and self.is_vararg:
            return self.some("...", "(...)", "select('#', ...)")
        if choice == 7 and (name := self.variable("object")):
            return f"{name}.{self.some('x', 'y', 'size')}"
        return self.of(self.some("number", "string"), depth)

    def number(self, depth: int) -> str:
        choice = self.random.randrange(12)
        if choice < 3 and (name := self.variable("number")):
            return name
        if choice == 3 and (name := self.variable("list")):
            return f"#{name}"
        if choice == 4 and depth:
            return f"#{self.prefix(self.of('string', depth - 1))}"
        if choice in (5, 6, 7) and depth:
            operator = self.some("+", "-", "*", "/", "%", "+", "-", "^")
            left, right = self.number(depth - 1), self.number(depth - 1)
            if operator == "^":
                return f"({left}) ^ 2"
            if operator in "/%":  # Python refuses to divide by zero
                right = self.some("2", "3", "0.5", "10")
            return f"({left} {operator} {right})"
        if choice == 8 and depth:
            function = self.some("floor", "abs", "max", "min")  # Python's ceil knows no -0
            more = f", {self.number(depth - 1)}" if function in ("max", "min") else ""
            return f"math.{function}({self.number(depth - 1)}{more})"
        if choice == 9 and (name := self.variable("object")):
            return f"{name}:{self.some('get()', 'add(2)', 'twice()')}"
        if choice == 10 and depth:
            return f"({self.number(depth - 1)} or {self.number(0)})"
        if choice == 11:
            return self.some("'3'", "'0x10'", "2.5", "-1") + " + 0"
        return str(self.random.choice([0, 1, 2, 3, 7, 10, -1, 0.5, 2.25, 100]))

    def prefix(self, text: str) -> str:
        return f"({text})"

    def string(self, depth: int) -> str:
        choice = self.random.randrange(12)
        if choice < 3 and (name := self.variable("string")):
            return name
        if choice == 3 and depth:
            return (
                f"({self.value(0)} .. '')"
                if self.chance(0)
                else f"tostring({self.value(depth - 1)})"
            )
        if choice == 4 and depth:
            return f"({self.string(depth - 1)} .. {self.some(self.string(0), self.number(0))})"
        if choice in (5, 6, 7) and depth:
            owner = self.prefix(self.string(depth - 1))
            a, b = self.random.randint(-3, 4), self.random.randint(-2, 6)
            return owner + self.some(
                ":upper()", ":lower()", f":sub({a})", f":sub({a}, {b})", f":rep({abs(a)})",
                ":reverse()", ":gsub('a', 'o')", f":gsub('{self.some(*PATTERNS)}', '<%0>')",
            )  # fmt: skip
        if choice == 8 and (name := self.variable("list")):
            return f"table.concat({name}, ',')" if name in self.known("list") else "''"
        if choice == 9:
            return f"string.format('%d:%s', {self.random.randint(0, 9)}, {self.value(0)})" if (
                self.chance(0.3)) else f"type({self.value(max(depth - 1, 0))})"  # fmt: skip
        return repr(self.random.choice(WORDS))

    def boolean(self, depth: int) -> str:
        choice = self.random.randrange(8)
        if choice == 0 and (name := self.variable("boolean")):
            return name
        if choice == 1 and depth:
            return f"not {self.prefix(self.value(depth - 1))}"
        if choice == 2 and depth:
            operator = self.some("<", ">", "<=", ">=")
            return f"{self.number(depth - 1)} {operator} {self.number(depth - 1)}"
        if choice == 3 and depth:
            return f"{self.prefix(self.value(depth - 1))} {self.some('==', '~=')} {self.value(0)}"
        if choice == 4 and depth:
            operator = self.some("and", "or")
            return f"({self.boolean(depth - 1)} {operator} {self.boolean(depth - 1)})"
        return self.some("true", "false")

    def list(self, depth: int) -> str:
        if self.chance(0.2) and (name := self.variable("list")):
            return name
        entries = [self.number(depth and depth - 1) for _ in range(self.random.randint(0, 4))]
        if self.functions and self.chance(0.15):
            entries.append(self.call(1))
            return "{" + ", ".join(f"({e}) or 0" for e in entries) + "}"
        return "{" + ", ".join(entries) + "}"

    def map(self, depth: int) -> str:
        fields = self.random.sample(FIELDS[:4], self.random.randint(0, 3))
        return "{" + ", ".join(f"{f} = {self.value(depth and depth - 1)}" for f in fields) + "}"

    def object(self, depth: int) -> str:
        name = self.random.choice(self.classes)
        return f"{name}.new({self.number(depth and depth - 1)})"

    def call(self, depth: int) -> str:
        name, parameters, _ = self.random.choice(self.functions)
        given = max(0, parameters + self.random.choice([0, 0, 0, -1, 1]))
        return f"{name}({', '.join(self.number(max(depth - 1, 0)) for _ in range(given))})"

    # Statements

    def block(self, depth: int, names: dict[str, str] | None = None) -> None:
        self.indent += 1
        self.scopes.append(dict(names or {}))
        functions, classes = list(self.functions), list(self.classes)
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)
        self.functions, self.classes = functions, classes
        self.scopes.pop()
        self.indent -= 1

    def statement(self, depth: int) -> None:
        choices = ["declare"] * 4 + ["show"] * 5 + ["assign"] * 3 + ["several", "fill", "strings"]
        if depth:
            choices += ["condition", "loop", "each", "repeat_", "function", "class_", "protected"]
            choices += ["generator", "closures", "while_", "meta"]
        getattr(self, self.random.choice(choices))(depth)

    def declare(self, depth: int) -> None:
        kinds = ["number", "number", "string", "boolean", "list", "list", "map"]
        kinds += ["object"] * (2 * bool(self.classes))
        kind = self.random.choice(kinds)
        made = self.of(kind)
        self.write(f"local {self.new(kind)} = {made}")

    def show(self, depth: int) -> None:
        self.write(f"print({', '.join(self.value() for _ in range(self.random.randint(1, 3)))})")

    def strings(self, depth: int) -> None:
        text, pattern = self.prefix(self.string(1)), self.some(*PATTERNS)
        self.write(
            self.some(
                f"print({text}:find('{pattern}'))",
                f"print({text}:match('{pattern}'))",
                f"print({text}:gsub('{pattern}', '%0%0'))",
                f"print({text}:byte(1, 2))",
                f"for w in {text}:gmatch('{pattern}') do print(w) end",
                f"print(tonumber({text}), #{text})",
                f"print(tostring({self.value(1)}) .. '|' .. {text})",
            )
        )

    def assign(self, depth: int) -> None:
        kind = self.some("number", "string", "boolean")
        if name := self.variable(kind):
            self.write(f"{name} = {self.of(kind)}")
        elif name := self.variable("map"):
            self.write(f"{name}.{self.some(*FIELDS)} = {self.value()}")

    def several(self, depth: int) -> None:
        if self.functions and self.chance(0.6):
            call = self.call(1)
            made = self.some(f"print({call})", f"print({call}, {call})", f"print(#{{{call}}})",
                             f"print(select('#', {call}))", f"print((({call})))")  # fmt: skip
            self.write(made)
            return
        first, second = self.number(1), self.number(1)
        a, b = self.random.sample(NAMES, 2)
        self.write(f"local {a}, {b} = {first}, {second}")
        self.scopes[-1] |= {a: "number", b: "number"}
        if self.chance(0.5):
            self.write(f"{a}, {b} = {b}, {a}")

    def fill(self, depth: int) -> None:
        if not (name := self.variable("list")):
            return
        number = self.number(1)
        self.write(
            self.some(
                f"{name}[#{name} + 1] = {number}",
                f"table.insert({name}, {number})",
                f"table.insert({name}, 1, {number})",
                f"print(table.remove({name}))",
                f"table.remove({name}, 1)",
                f"table.sort({name})",
                f"{name}[1] = {number}",
                f"print(unpack({name}))",
                f"print({name}[#{name}], #{name}, {name}[1])",
                f"for k, v in pairs({name}) do print(k, v) end",
            )
        )

    def condition(self, depth: int) -> None:
        self.write(f"if {self.value()} then")
        self.block(depth - 1)
        if self.chance(0.3):
            self.write(f"elseif {self.value()} then")
            self.block(depth - 1)
        if self.chance(0.5):
            self.write("else")
            self.block(depth - 1)
        self.write("end")

    def loop(self, depth: int) -> None:
        first, last = self.random.randint(-1, 3), self.random.randint(0, 5)
        step = self.some("", "", ", 2", ", -1", ", 0.5")
        name = self.random.choice(NAMES)
        self.write(f"for {name} = {first}, {last}{step} do")
        self.jumping(depth, {name: "number"}, f"{name} % 2 == 0")
        self.write("end")

    def jumping(self, depth: int, names: dict[str, str], condition: str) -> None:
        """A loop's body, that is left or gone on with in its middle at times."""
        how = self.random.randrange(4)
        if how == 0:
            self.count += 1
            label = f"continue{self.count}"
            self.write(f"  if {condition} then goto {label} end")
            self.indent += 1
            self.write("do")
            self.block(depth - 1, names)
            self.write("end")
            self.write(f"::{label}::")
            self.indent -= 1
            return
        if how == 1:
            self.write(f"  if {condition} then break end")
        self.block(depth - 1, names)

    def while_(self, depth: int) -> None:
        self.count += 1
        name = f"turn{self.count}"
        self.write(f"local {name} = 0")
        self.write(f"while {name} < {self.random.randint(1, 3)} do")
        self.write(f"  {name} = {name} + 1")
        self.block(depth - 1)
        self.write("end")

    def repeat_(self, depth: int) -> None:
        self.count += 1
        name = f"turn{self.count}"
        self.write(f"local {name} = 0")
        self.write("repeat")
        self.write(f"  local last = {name} >= 1")
        self.write(f"  {name} = {name} + 1")
        self.block(depth - 1)
        self.write("until last")

    def each(self, depth: int) -> None:
        if not (name := self.variable("list")):
            return
        i, v = self.random.sample([*NAMES, "_", "_"], 2)
        self.write(f"for {i}, {v} in ipairs({name}) do")
        kinds = {k: "number" for k in (i, v) if k != "_"}
        self.jumping(depth, kinds, f"{v} > 2" if v != "_" else "true")
        self.write("end")

    def function(self, depth: int) -> None:
        name = f"f{len(self.functions) + 1}"
        parameters = self.random.sample(NAMES, self.random.randint(0, 3))
        is_vararg = self.chance(0.3)
        shown = ", ".join([*parameters, *["..."] * is_vararg])
        self.write(f"local function {name}({shown})")
        self.indent += 1
        for p in parameters:
            self.write(f"{p} = {p} or {self.random.randint(0, 5)}")
        self.indent -= 1
        outer, self.is_vararg = self.is_vararg, is_vararg
        self.in_function += 1
        self.scopes.append(dict.fromkeys(parameters, "number"))
        self.block(depth - 1)
        if self.chance(0.3):
            self.write(f"  if {self.boolean(1)} then return {self.results()} end")
        self.write(f"  return {self.results()}")
        self.scopes.pop()
        self.in_function -= 1
        self.is_vararg = outer
        self.write("end")
        self.functions.append((name, len(parameters), ()))

    def results(self) -> str:
        return ", ".join(self.value(1) for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])))

    def class_(self, depth: int) -> None:
        self.count += 1
        name = f"Class{self.count}"
        parent = self.random.choice(self.classes) if self.classes and self.chance(0.5) else None
        made = f"setmetatable({{}}, {{__index = {parent}}})" if parent else "{}"
        self.write(f"local {name} = {made}")
        self.write(f"{name}.__index = {name}")
        base = f"{parent}.new(x)" if parent else "{}"
        extra = self.some("", "", f" self.y = {self.value(0)}")
        self.write(
            f"function {name}.new(x) local self = setmetatable({base}, {name}); self.x = x;{extra}"
            " return self end"
        )
        for method in ("get", "add", "twice"):
            if parent is None or self.chance(0.4):
                body = {
                    "get": f"return self.x {self.some('+', '-', '*')} {self.random.randint(1, 3)}",
                    "add": "self.x = self.x + (n or 1); return self.x",
                    "twice": "return self:get() * 2",
                }[method]
                self.write(f"function {name}:{method}({'n' if method == 'add' else ''}) {body} end")
        if self.chance(0.3):
            self.write(f"{name}.__tostring = function(o) return '{name}(' .. o.x .. ')' end")
        if self.chance(0.3):
            self.write(f"{name}.__add = function(a, b) return {name}.new(a.x + b.x) end")
            self.write(f"print(({name}.new(1) + {name}.new(2)).x)")
        self.classes.append(name)

    def meta(self, depth: int) -> None:
        self.count += 1
        name = f"proxy{self.count}"
        index = self.some(
            "{x = 1, size = 'big'}", "function(t, k) return k end", "function() return 0 end"
        )
        self.write(f"local {name} = setmetatable({self.map(1)}, {{__index = {index}}})")
        self.write(f"print({name}.x, {name}.size, {name}.{self.some(*FIELDS)})")

    def protected(self, depth: int) -> None:
        self.write(
            self.some(
                f"print(pcall(function() return {self.results()} end))",
                "print(pcall(function() error('bad', 0) end))",
                f"print(pcall(function() error({{{self.number(0)}}}) end) == false)",
                f"print(select('#', pcall(function() return {self.results()} end)))",
                "local ok, why = pcall(function() local t = nil; return t.x end) print(ok)",
            )
        )

    def generator(self, depth: int) -> None:
        self.count += 1
        name = f"co{self.count}"
        self.write(f"local {name} = coroutine.wrap(function(a)")
        self.write(f"  local b = coroutine.yield(a, {self.number(1)})")
        self.write(f"  coroutine.yield(b, {self.value(0)})")
        self.write(f"  return {self.number(1)}")
        self.write("end)")
        self.write(f"print({name}({self.number(0)}))")
        self.write(f"print({name}({self.value(0)}))")
        if self.chance(0.5):
            self.write(f"print({name}())")

    def closures(self, depth: int) -> None:
        self.count += 1
        name = f"made{self.count}"
        self.write(f"local {name} = {{}}")
        body = self.some(
            "return i", "i = i + 1; return i", "local j = i * 2; return j, i", "return i, #" + name
        )
        self.write(f"for i = 1, 3 do {name}[i] = function() {body} end end")
        self.write(f"print({name}[1](), {name}[2](), {name}[1]())")
