"""The trace of a run: types, sizes and counts of values, at each place of the source.

The script runs under the Lua runtime with its expressions wrapped in calls that note them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from compat.port.know.files import File
from compat.port.know.scopes import PACKAGES
from compat.port.processes import ENDED, run, said
from compat.port.read import syntax as s
from compat.port.read.parser import without_shell_line

_PER_FILE = 1_000_000
_GRACE = 30  # seconds to start, and to end a loop without values

Facts = dict[tuple[str, int, int], list[str]]  # what ``traced`` sees, and where
_PASSES = {"forward", "backward", "updateOutput", "updateGradInput"}
MADE = ": made"  # behind a path: where the tables were made that an expression was

# How values are noted, in the script's runtime and in those of its threads: what is new at a place
# is told, and at most 300 values are looked at.
RECORDER = """
local load_instrumented, deadline, stop, tell = ...
local seen, last, made = {}, {}, setmetatable({}, {__mode = 'k'})
local type, next, pairs, select = type, next, pairs, select
local getmetatable, rawlen, rawequal, loaded = getmetatable, rawlen, rawequal, package.loaded
local floor, tostring, typename, isTensor = math.floor, tostring, torch.typename, torch.isTensor
local function table_kind(t)
   if t == arg then return 'list' end  -- as a draft passes it, without the script's name
   if next(t) == nil then return 'empty' end
   local n, count, words, numbers = rawlen(t), 0, false, false
   for k in pairs(t) do
      count = count + 1
      if type(k) == 'string' then words = true
      elseif type(k) ~= 'number' or k < 1 or k > n or k ~= floor(k) then
         return words and 'mixed' or 'sparse'
      else numbers = true end
      if count > 64 then break end
   end
   if words then return numbers and 'mixed' or 'dict' end
   return 'list'
end
local function describe(v)
   local kind = type(v)
   if kind == 'number' then
      return v == 0 and 'zero' or v == floor(v) and v < 1e15 and v > -1e15 and 'int' or 'float'
   end
   if kind == 'userdata' or kind == 'table' or kind == 'cdata' then
      local name = typename(v)
      if name then
         if isTensor(v) then
            local layout = v:isContiguous() and '' or ' strided'
            return 'tensor ' .. name:match('torch%.(%a-)Tensor') .. ' ' .. v:dim() .. layout
         end
         if name == 'torch.LongStorage' then return 'sizes' end
         if name:find('Storage$') then return 'storage' end
         return 'class ' .. name
      end
      if kind == 'table' then return getmetatable(v) and 'object' or table_kind(v) end
      return 'other'
   end
   return kind
end
local ticks, clock = 0, os.time
local function add(what, id, word)
   local key = what .. id
   local s = seen[key]
   if not s then s = {} seen[key] = s end
   if not s[word] then
      s[word] = true
      tell(what, id, tostring(word))
   end
end
local left, own = {}, {_G = true}
local function is_package(v)
   if v == true then return false end  -- which require gives for a file that returns nothing
   for name, package in pairs(loaded) do
      if rawequal(package, v) and not own[name] then return true end
   end
end
local function note(id, v)
   ticks = ticks + 1
   if ticks % 256 == 0 and clock() > deadline then stop() end
   local n = left[id] or 300
   if n > 0 then
      left[id] = n - 1
      if not is_package(v) then add('n', id, describe(v)) end
      if type(v) == 'table' then add('t', id, made[v] or 'else') end
   end
end
function __port_t(id, t) made[t] = id return t end
local function give(v, depth)
   if type(v) ~= 'table' or getmetatable(v) or depth > 5 then return end
   made[v] = nil
   for _, inner in pairs(v) do give(inner, depth + 1) end
end
function __port_g(id, v) give(v, 1) return v end  -- to a net, which may give it back: as a list
function __port_n(id, v) note(id, v) return v end
function __port_m(id, ...)
   note(id, (...))
   add('m', id, select('#', ...))
   return ...
end
function __port_w(id, object) last[id] = object note(id, object) return object end
function __port_k(id, object_id, key)
   local t = last[object_id]
   if type(t) == 'table' and type(key) == 'number' then
      local n = rawlen(t)
      local inside = key >= 1 and key <= n and key == floor(key)
      local kind = key == n + 1 and 'append' or inside and 'over' or 'sparse'
      add('k', id, kind)
   end
   note(id, key)
   return key
end
local real_loadfile = loadfile
function loadfile(path)
   local text = path and load_instrumented(path)
   if text then
      local f = loadstring(text, '@' .. path)
      if f then return f end
   end
   return real_loadfile(path)
end
function dofile(path)
   local f, message = loadfile(path)
   if not f then error(message, 0) end
   return f()
end
table.insert(package.loaders, 2, function(name)
   for place in package.path:gmatch('[^;]+') do
      local path = place:gsub('%?', (name:gsub('%.', '/')))
      local text = load_instrumented(path)
      if text then
         own[name] = true
         return loadstring(text, '@' .. path)
      end
   end
end)
"""


class _Marks:
    """A file's text with its expressions wrapped."""

    def __init__(self, file: File, first: int) -> None:
        self.file, self.first, self.source = file, first, without_shell_line(file.source)
        self.sites: list[s.Node] = []
        self.given: set[s.Node] = set()  # tables that stand where a net is given something
        self.inserts: list[tuple[int, int, int, bytes]] = []
        self._statements(file.block)

    def text(self) -> bytes:
        source = self.source
        out, at = [], 0
        for place, _, _, text in sorted(self.inserts, key=lambda i: i[:3]):
            out += [source[at:place], text]
            at = place
        return b"".join([*out, source[at:]])

    def _id(self, node: s.Node) -> int:
        self.sites.append(node)
        return self.first + len(self.sites) - 1

    def _wrap(self, node: s.Node, call: str, end: bytes = b")") -> None:
        if node.is_made or not node.end:
            return  # it stands nowhere
        width = node.end - node.start
        # Of those that begin at one place the widest comes first; ends come before beginnings.
        self.inserts.append((node.start, 1, -width, call.encode()))
        self.inserts.append((node.end, 0, width, end))

    def _statements(self, block: s.Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, node: s.Statement) -> None:
        if isinstance(node, s.Assign):
            for target in node.targets:
                if isinstance(target, s.Index):
                    self._target(target)
            self._list(node.values)
        elif isinstance(node, s.Local):
            self._list(node.values)
        elif isinstance(node, s.Do):
            assert isinstance(node.call, s.Call)
            self._call(node.call)
        elif isinstance(node, s.Return):
            self._list(node.values)
        elif isinstance(node, s.ForEach):
            for value in node.values:
                if isinstance(value, s.Call):
                    self._call(value)
                else:
                    self._children(value)
            self._statements(node.body)
        elif isinstance(node, s.Define):
            self._statements(node.function.body)
        elif isinstance(node, s.If):
            for condition, body in node.clauses:
                if condition is not None:
                    self._one(condition)
                self._statements(body)
        elif isinstance(node, s.ForRange):
            for part in (node.first, node.last, node.step):
                if part is not None:
                    self._one(part)
            self._statements(node.body)
        elif isinstance(node, (s.While, s.Repeat)):
            self._one(node.condition)
            self._statements(node.body)
        elif isinstance(node, s.Scope):
            self._statements(node.body)

    def _target(self, node: s.Index) -> None:
        number = self._prefix(node.object, "__port_w")
        if isinstance(node.key, s.Constant):
            return
        if number is None:
            self._one(node.key)
        else:
            self._inside(node.key)
            self._wrap(node.key, f"__port_k({self._id(node.key)},{number},")

    def _list(self, nodes: Sequence[s.Node]) -> None:
        for i, node in enumerate(nodes):
            if i == len(nodes) - 1 and isinstance(node, s.Call):
                self._call(node)
                self._wrap(node, f"__port_m({self._id(node)},")
            else:
                self._one(node)

    def _prefix(self, node: s.Node, how: str = "__port_n") -> int | None:
        """Return what stands before a dot, colon or bracket."""
        if _is_package(node):
            return None
        self._inside(node)
        number = self._id(node)
        self._wrap(node, f"{how}({number},")
        return number

    def _one(self, node: s.Node) -> None:
        """Trace an expression whose first value counts."""
        self._inside(node)
        if isinstance(node, (s.Name, s.Index, s.Call, s.Binary)) and not _is_package(node):
            call = "__port_m" if isinstance(node, s.Call) else "__port_n"
            self._wrap(node, f"{call}({self._id(node)},")

    def _inside(self, node: s.Node) -> None:
        if isinstance(node, s.Call):
            self._call(node)
        elif isinstance(node, s.Index):
            if not _is_package(node):
                self._prefix(node.object)
                if not isinstance(node.key, s.Constant):
                    self._one(node.key)
        elif isinstance(node, s.Function):
            self._statements(node.body)
        elif isinstance(node, s.Table):
            before = self.source[: node.start].rstrip(b" \t")
            if not before.endswith(b"\n") or before.rstrip()[-1:] in b"{(,=":  # not ``f {…}``
                how = "__port_g" if node in self.given else "__port_t"
                self._wrap(node, f"({how}({self._id(node)},", b"))")
            for i, entry in enumerate(node.fields):
                if entry.key is not None:
                    if not isinstance(entry.key, s.Constant):
                        self._one(entry.key)
                    self._one(entry.value)
                elif i == len(node.fields) - 1:
                    self._list([entry.value])
                else:
                    self._one(entry.value)
        elif isinstance(node, s.Paren):
            self._one(node.inner)
        else:
            self._children(node)

    def _children(self, node: s.Node) -> None:
        for child in node.children():
            self._one(child)

    def _call(self, node: s.Call) -> None:
        if node.method is not None:
            self._prefix(node.function)
        elif isinstance(node.function, s.Index):
            if not _is_package(node.function):
                self._prefix(node.function.object)
                if not isinstance(node.function.key, s.Constant):
                    self._one(node.function.key)
        elif not isinstance(node.function, s.Name):
            self._inside(node.function)
        if node.method in _PASSES:
            for argument in node.arguments:
                if isinstance(argument, s.Table):
                    self.given.add(argument)
                elif isinstance(argument, (s.Name, s.Index)):
                    self._wrap(argument, f"__port_g({self._id(argument)},")
        self._list(node.arguments)


def _is_package(node: s.Node) -> bool:
    """Return whether an expression names a package or what is in one."""
    while isinstance(node, s.Index) and isinstance(node.key, s.Constant):
        node = node.object
    if not isinstance(node, s.Name):
        return False
    variable = node.variable
    return node.id in PACKAGES and (
        variable is None or (variable.is_global and not variable.writes)
    )


def traced(
    files: Sequence[File],
    arguments: Sequence[str],
    folder: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
    script: int = 0,
) -> tuple[Facts, str | None, str]:
    """Run a file, ``script`` is its number, in ``folder``, and see what all of them compute with.

    A run that takes more than ``seconds`` is ended, and what it has seen by then counts.

    Returns:
        What was seen: at (path, start, end) kinds of values, at (path, -start, end) numbers of
        results, at (path, start, -end) of a key what was written under it, at (path, -start, -end)
        that it was 0 at times. And the error that the script ended in, None if it did not, and how
        it ended before its end.
    """
    marks = [_Marks(file, i * _PER_FILE) for i, file in enumerate(files)]
    with tempfile.TemporaryDirectory() as place:
        program = {
            "texts": {os.path.realpath(m.file.path): m.text().decode("latin-1") for m in marks},
            "script": os.path.abspath(files[script].path),
            "arguments": list(arguments),
            "out": str(Path(place, "out")),
            "deadline": 1e300 if seconds is None else time.time() + seconds,
        }
        given = Path(place, "program.json")
        given.write_text(json.dumps(program))
        longest = None if seconds is None else seconds + _GRACE
        done = run("know.trace", str(given), folder=folder, seconds=longest)
        if done.returncode == ENDED:
            return {}, f"it did not end in {seconds:g} seconds, and could not be asked to", ""
        out = Path(place, "out")
        how, *lines = out.read_text("latin-1").splitlines() if out.exists() else ["error"]
    problem, ended = None, ""
    if how == "error":
        lines_said = said(done) or [f"it ends with {done.returncode}"]
        told = (line for line in lines_said if re.search(r"\.lua:\d+: \S", line))
        at = lines_said.pop() if len(lines_said) > 1 and lines_said[-1].startswith("at ") else ""
        problem = next(told, lines_said[-1]).rstrip(": ")
        problem += f" ({at})" if at and at[3:] not in problem else ""
    elif how == "time":
        ended = f"was ended after {seconds:g} seconds"
    elif done.returncode:
        ended = f"ended itself with status {done.returncode}"
    return _facts(marks, lines), problem, ended


def _facts(marks: Sequence[_Marks], lines: Iterable[str]) -> Facts:
    facts: Facts = {}

    def site(number: str) -> tuple[str, s.Node]:
        mark = marks[int(number) // _PER_FILE]
        return mark.file.path, mark.sites[int(number) % _PER_FILE]

    for line in lines:
        kind, number, words = line.split(" ", 2)
        path, node = site(number)
        found = set(words.split(";"))
        if kind == "t":
            made = (("", None) if word == "else" else site(word) for word in found)
            told = sorted(f"{at} {where.start}" if where else at for at, where in made)
            facts[path + MADE, node.start, node.end] = told
            continue
        start, end = {
            "n": (node.start, node.end), "m": (-node.start, node.end),
            "k": (node.start, -node.end),
        }[kind]  # fmt: skip
        if "zero" in found:
            facts[path, -node.start, -node.end] = ["zero"]
            found = found - {"zero"} | {"int"}
        facts[path, start, end] = sorted(found)
    return facts


def _main(given: str) -> int:
    """Run an instrumented program in this process."""
    import compat
    from compat.lua import LuaError, Runtime
    from compat.lua.errors import hint

    program: dict[str, Any] = json.loads(Path(given).read_text())
    texts: dict[str, str] = program["texts"]

    def instrumented(path: Any) -> str | None:
        return texts.get(os.path.realpath(path)) if isinstance(path, str) else None

    seen: dict[tuple[str, int], set[str]] = {}

    def tell(what: str, place: float, word: str) -> None:
        seen.setdefault((what, int(place)), set()).add(word)

    def save(how: str) -> None:
        lines = [f"{what} {place} {';'.join(words)}" for (what, place), words in list(seen.items())]
        Path(program["out"]).write_text("\n".join([how, *lines]), "latin-1")

    def stop() -> None:
        save("time")
        os._exit(0)

    Runtime.at_start.append(
        lambda runtime: runtime.execute(RECORDER, instrumented, program["deadline"], stop, tell)
    )
    runtime = Runtime(standard_output=True)
    runtime.require("trepl")

    runtime.before_exit.append(lambda: save("exit"))
    how = "error"
    try:
        runtime.run(program["script"], *program["arguments"])
        how = "end"
    except LuaError as error:
        print(f"{error}{hint(str(error))}", file=sys.stderr)
        ours = str(Path(compat.__file__).parent)
        places = re.findall(r"^\t(\S+\.lua:\d+): in", error.traceback, re.M)
        places = [place for place in places if not place.startswith((ours, "torch/"))]
        print(*[f"at {place}" for place in places[:1]], file=sys.stderr)
        return 1
    finally:
        save(how)
        runtime.flush()
    return 0


if __name__ == "__main__":
    code = _main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
