"""Tables that Lua and Python share, against a model: what either side does, both see."""

from __future__ import annotations

import gc
import random
from typing import Any

import pytest

from compat import lua, nn, t7
from compat.lua_tables import items

# Numbers the tables of a graph as they are met, keys in order; the same text for the same graph.
_DUMP = """
local function text(k)
   if type(k) == 'table' then return 'module' end
   return type(k) == 'number' and string.format('%.14g', k) or type(k) .. tostring(k)
end
function dump(t)
   local seen, n, out = {}, 0, {}
   local function walk(v)
      if type(v) ~= 'table' or torch.typename(v) then out[#out + 1] = text(v) return end
      if seen[v] then out[#out + 1] = '<' .. seen[v] .. '>' return end
      n = n + 1
      seen[v] = n
      local keys = {}
      for k in pairs(v) do keys[#keys + 1] = k end
      table.sort(keys, function(a, b) return text(a) < text(b) end)
      out[#out + 1] = '{'
      for _, k in ipairs(keys) do
         out[#out + 1] = text(k) .. '='
         walk(v[k])
         out[#out + 1] = ' '
      end
      out[#out + 1] = '}'
   end
   walk(t)
   return table.concat(out)
end
R = {}
"""


class Table:
    """A table of the model: keys and values as Lua has them."""

    def __init__(self) -> None:
        self.items: dict[Any, Any] = {}

    def set(self, key: Any, value: Any) -> None:
        key = _key(key)
        if value is None:
            self.items.pop(key, None)
        else:
            self.items[key] = value

    def get(self, key: Any) -> Any:
        return self.items.get(_key(key))

    def is_sequence(self) -> bool:
        return all(_key(i) in self.items for i in range(1, len(self.items) + 1))


def _key(key: Any) -> Any:
    return (bool, key) if isinstance(key, bool) else key


def _text(value: Any) -> str:
    value = value[1] if isinstance(value, tuple) else value
    if isinstance(value, t7.Key):
        value = value.value
    if isinstance(value, nn.Module):
        return "module"
    if isinstance(value, bool):
        return f"boolean{str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"{value:.14g}"
    return f"string{value}"


def _items(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, Table):
        return value.items
    if isinstance(value, (list, dict)):
        return {k: v for k, v in items(value) if v is not None}
    return None


def _dump(value: Any) -> str:
    seen: dict[int, int] = {}
    out: list[str] = []

    def walk(value: Any) -> None:
        items = _items(value)
        if items is None:
            out.append(_text(value))
        elif id(value) in seen:
            out.append(f"<{seen[id(value)]}>")
        else:
            seen[id(value)] = len(seen) + 1
            out.append("{")
            for key in sorted(items, key=_text):
                out.append(_text(key) + "=")
                walk(items[key])
                out.append(" ")
            out.append("}")

    walk(value)
    return "".join(out)


class Program:
    """A random sequence of what both languages do with tables, and the same on the model."""

    slots = 4

    def __init__(self, runtime: lua.Runtime, seed: int) -> None:
        self.random = random.Random(seed)
        self.runtime = runtime
        self.module = nn.Identity()
        runtime.execute("m, tanh = ...", self.module, nn.Tanh())
        self.tanh = runtime.globals().tanh
        runtime.execute("R = {}")
        # What the references of Lua, of Python and the field hold, in the model; and Python's.
        self.of_lua: dict[int, Table] = {}
        self.of_python: dict[int, Table] = {}
        self.field: Table | None = None
        self.held: dict[int, Any] = {}
        self.log: list[str] = []

    def run(self, length: int) -> None:
        actions = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        for _ in range(length):
            action = self.random.choice(actions)
            self.log.append(action.__name__)
            action()
            if self.random.random() < 0.3:
                self.check()
        self.check()

    def check(self) -> None:
        dump = self.runtime.globals().dump
        for i, table in self.of_lua.items():
            self.same(self.runtime.eval(f"dump(R[{i}])"), table, f"R[{i}]")
        for i, table in self.of_python.items():
            self.same(_dump(self.held[i]), table, f"held[{i}]")
            self.same(dump(self.held[i]), table, f"held[{i}] in Lua")
        if self.field is not None:
            self.same(self.runtime.eval("dump(m.f)"), self.field, "m.f")
            self.same(_dump(self.module.f), self.field, "m.f in Python")
        for i, table in self.of_lua.items():
            for j, other in self.of_lua.items():
                assert self.runtime.eval(f"R[{i}] == R[{j}]") == (table is other), self.log

    def same(self, found: str, table: Table, where: str) -> None:
        assert found == _dump(table), f"{where} after {self.log}"

    # Choices --------------------------------------------------------------------------------------

    def slot(self) -> int:
        return self.random.randrange(self.slots)

    def lua_slot(self) -> int | None:
        return self.random.choice(list(self.of_lua)) if self.of_lua else None

    def key(self) -> Any:
        return self.random.choice([1, 1, 2, 3, 4, "a", "b", True, 2.5, 0])

    def value(self) -> tuple[str, Any]:
        """As Lua's text, and in the model."""
        i = self.lua_slot()
        if i is not None and self.random.random() < 0.4:
            return f"R[{i}]", self.of_lua[i]
        return self.random.choice(
            [("nil", None), ("5", 5), ("'x'", "x"), ("true", True), ("tanh", self.tanh)]
        )

    def note(self, text: str) -> None:
        self.log[-1] += f": {text}"

    def lua(self, text: str, *args: Any) -> Any:
        self.note(text)
        return self.runtime.execute(text, *args)

    # Lua ------------------------------------------------------------------------------------------

    def do_new(self) -> None:
        i, table = self.slot(), Table()
        text, value = self.value()
        if self.random.random() < 0.5:
            table.set(1, value)
            self.lua(f"R[{i}] = {{{text}}}")
        else:
            table.set("a", value)
            self.lua(f"R[{i}] = {{a = {text}}}")
        self.of_lua[i] = table

    def do_set(self) -> None:
        i = self.lua_slot()
        if i is None:
            return
        key, (text, value) = self.key(), self.value()
        self.lua(f"R[{i}][{_lua(key)}] = {text}")
        self.of_lua[i].set(key, value)

    def do_get(self) -> None:
        i, j = self.lua_slot(), self.slot()
        if i is None:
            return
        inner = [k for k, v in self.of_lua[i].items.items() if isinstance(v, Table)]
        if inner:
            key = self.random.choice(inner)
            self.lua(f"R[{j}] = R[{i}][{_lua(key)}]")
            self.of_lua[j] = self.of_lua[i].items[key]

    def do_set_field(self) -> None:
        i = self.lua_slot()
        if i is not None:
            self.lua(f"m.f = R[{i}]")
            self.field = self.of_lua[i]

    def do_get_field(self) -> None:
        if self.field is not None:
            i = self.slot()
            self.lua(f"R[{i}] = m.f")
            self.of_lua[i] = self.field

    def do_insert(self) -> None:
        i = self.lua_slot()
        if i is None or not self.of_lua[i].is_sequence():
            return
        text, value = self.value()
        table = self.of_lua[i]
        n = len(table.items)
        if value is None:
            return
        at = self.random.randint(1, n + 1)
        self.lua(f"table.insert(R[{i}], {at}, {text})")
        for k in range(n, at - 1, -1):
            table.set(k + 1, table.get(k))
        table.set(at, value)

    def do_remove(self) -> None:
        i = self.lua_slot()
        if i is None or not self.of_lua[i].is_sequence() or not self.of_lua[i].items:
            return
        table = self.of_lua[i]
        n = len(table.items)
        at = self.random.randint(1, n)
        self.lua(f"table.remove(R[{i}], {at})")
        for k in range(at, n):
            table.set(k, table.get(k + 1))
        table.set(n, None)

    def do_clear(self) -> None:
        i = self.lua_slot()
        if i is not None:
            self.lua(f"for k in pairs(R[{i}]) do R[{i}][k] = nil end")
            self.of_lua[i].items.clear()

    def do_drop(self) -> None:
        i = self.slot()
        self.lua(f"R[{i}] = nil")
        self.of_lua.pop(i, None)

    def do_collect(self) -> None:
        self.lua("collectgarbage() collectgarbage()")
        gc.collect(0)

    # Python ---------------------------------------------------------------------------------------

    def hold(self, i: int, held: Any, table: Table) -> None:
        self.held[i], self.of_python[i] = held, table

    def do_read_field(self) -> None:
        if self.field is not None:
            self.hold(self.slot(), self.module.f, self.field)

    def do_read_entry(self) -> None:
        if not self.held:
            return
        i = self.random.choice(list(self.held))
        inner = [
            (k, v) for k, v in (_items(self.held[i]) or {}).items() if isinstance(v, (list, dict))
        ]
        if inner:
            key, value = self.random.choice(inner)
            self.note(f"{i} {key}")
            of = self.of_python[i].get(key.value if isinstance(key, t7.Key) else key)
            self.hold(self.slot(), value, of)

    def do_write_entry(self) -> None:
        if not self.held:
            return
        i = self.random.choice(list(self.held))
        held, table = self.held[i], self.of_python[i]
        j = self.random.choice(list(self.held))
        value, of = self.random.choice([(7, 7), ("y", "y"), (self.held[j], self.of_python[j])])
        if isinstance(held, list):
            if held and self.random.random() < 0.5:
                k = self.random.randrange(len(held))
                self.note(f"{i} [{k}]")
                held[k] = value
                table.set(k + 1, of)
            else:
                held.append(value)
                table.set(len(held), of)
        else:
            key = self.random.choice(["a", "c", 9])
            self.note(f"{i} [{key}]")
            held[key] = value
            table.set(key, of)

    def do_new_in_python(self) -> None:
        i, table = self.slot(), Table()
        held: Any = self.random.choice([[], {}])
        self.hold(i, held, table)

    def do_write_field(self) -> None:
        if self.held:
            i = self.random.choice(list(self.held))
            self.module.f, self.field = self.held[i], self.of_python[i]

    def do_let_go(self) -> None:
        i = self.slot()
        self.held.pop(i, None)
        self.of_python.pop(i, None)

    # Calls ----------------------------------------------------------------------------------------

    def do_call_python(self) -> None:
        """A function of Python gets a table: it may keep, change it, call Lua that changes it."""
        i = self.lua_slot()
        if i is None:
            return
        table, slot = self.of_lua[i], self.slot()
        keeps, changes, calls = (self.random.random() < 0.5 for _ in range(3))
        key, (text, value) = self.key(), self.value()

        def function(given: Any) -> Any:
            if keeps:
                self.hold(slot, given, table)
            if changes:
                if isinstance(given, list):
                    given.append("p")
                    table.set(len(given), "p")
                else:
                    given["p"] = "p"
                    table.set("p", "p")
            if calls:
                self.runtime.execute(f"R[{i}][{_lua(key)}] = {text}")
                table.set(key, value)
            # Lua may have made it another object, which a variable does not see.
            return self.held[slot] if keeps else None

        self.note(f"{i} {keeps} {changes} {calls} {key} {text}")
        self.runtime.execute(
            f"local f = ... local t = f(R[{i}]) assert(t == nil or t == R[{i}])", function
        )

    def do_call_lua(self) -> None:
        """A function of Lua gets a table and gives one."""
        if not self.held:
            return
        i, j, k = self.random.choice(list(self.held)), self.slot(), self.lua_slot()
        table = self.of_python[i]
        self.note(f"{i} {j} {k}")
        if k is None:
            self.runtime.execute(f"R[{j}] = ...", self.held[i])
        else:
            given = self.runtime.execute(
                f"local old = R[{k}] R[{j}] = ... return old", self.held[i]
            )
            self.hold(self.slot(), given, self.of_lua[k])
            del given
        self.of_lua[j] = table


def _lua(key: Any) -> str:
    key = key[1] if isinstance(key, tuple) else key
    return {True: "true", False: "false"}[key] if isinstance(key, bool) else repr(key)


@pytest.fixture(scope="module")
def runtime() -> Any:
    runtime = lua.Runtime()
    runtime.execute("require 'nn'")
    runtime.execute(_DUMP)
    yield runtime
    runtime.close()


def programs(runtime: lua.Runtime, seeds: range) -> None:
    for seed in seeds:
        Program(runtime, seed).run(30)


def test_both_languages_see_one_table(runtime: lua.Runtime) -> None:
    programs(runtime, range(60))


@pytest.mark.slow
def test_both_languages_see_one_table_in_ten_thousand_programs(runtime: lua.Runtime) -> None:
    programs(runtime, range(1_000, 11_000))
