"""Calls that become a line with the arguments in it."""

from __future__ import annotations

import re

from compat.port.write import code
from compat.port.write.code import Code

# What becomes of a call: arguments are numbered from 1, ``{*}`` is all of them.
TEMPLATES = {
    "math.ceil": "math.ceil({1})",
    "math.sqrt": "math.sqrt({1})",
    "math.exp": "math.exp({1})",
    "math.log": "math.log({1})",
    "math.log10": "math.log10({1})",
    "math.sin": "math.sin({1})",
    "math.cos": "math.cos({1})",
    "math.tan": "math.tan({1})",
    "math.tanh": "math.tanh({1})",
    "math.atan": "math.atan({1})",
    "math.atan2": "math.atan2({1}, {2})",
    "math.asin": "math.asin({1})",
    "math.acos": "math.acos({1})",
    "math.fmod": "math.fmod({1}, {2})",
    "math.abs": "abs({1})",
    "math.deg": "math.degrees({1})",
    "math.rad": "math.radians({1})",
    "math.random": "lua.random({*})",
    "math.randomseed": "lua.randomseed({1})",
    "math.modf": "lua.modf({1})#2",
    "string.upper": "{1.}.upper()",
    "string.lower": "{1.}.lower()",
    "string.len": "len({1})",
    "string.reverse": "{1.}[::-1]",
    "string.char": "lua.char({*})",
    "string.find": "lua.find({*})#?",
    "string.gmatch": "lua.gmatch({*})",
    "string.gsub": "lua.gsub({*})#2",
    "string.byte": "lua.byte({*})#?",
    "string.split": "{1.}.split({2})",
    "string.format": "lua.format({*})",
    "table.sort": "lua.sort({*})",
    "table.concat": "lua.concat({*})",
    "table.getn": "len({1})",
    "table.maxn": "lua.length({1})",
    "table.insert": "lua.insert({*})",
    "table.remove": "lua.remove({*})",
    "unpack": "lua.unpack({*})#?",
    "loadstring": "lua.loadstring(globals(), {*})#?",
    "table.unpack": "lua.unpack({*})#?",
    "type": "lua.type({1})",
    "tonumber": "lua.tonumber({*})",
    "error": "lua.error({*})",
    "assert": "lua.check({*})#?",
    "pairs": "lua.pairs({1})",
    "ipairs": "lua.ipairs({1})",
    "select": "lua.select({*})#?",
    "rawequal": "{1.} is {2.}",
    "rawlen": "lua.length({1})",
    "rawget": "lua.rawget({1}, {2})",
    "rawset": "lua.rawset({1}, {2}, {3})",
    "setmetatable": "lua.setmetatable({1}, {2})",
    "getmetatable": "lua.getmetatable({1})",
    "collectgarbage": "0",
    "io.write": 'print({*}, sep="", end="")',
    "io.read": "lua.stdin.read({*})#1",
    "io.open": "lua.open({*})#1",
    "io.lines": "lua.open({1}).lines()",
    "io.flush": "sys.stdout.flush()",
    "io.stdout.write": 'print({*}, sep="", end="")',
    "os.tmpname": "lua.tmpname()",
    "io.popen": "lua.popen({*})",
    "io.close": "{1.}.close()",
    "os.exit": "sys.exit({*})",
    "os.clock": "time.process_time()",
    "os.time": "lua.time({*})",
    "os.date": "lua.date({*})",
    "os.getenv": "os.environ.get({1})",
    "os.execute": "os.system({1})",
    "path.join": "os.path.join({*})",
    "paths.filep": "os.path.isfile({1})",
    "paths.dirp": "os.path.isdir({1})",
    "path.exists": "os.path.exists({1})",
    "path.isfile": "os.path.isfile({1})",
    "path.isdir": "os.path.isdir({1})",
    "path.basename": "os.path.basename({1})",
    "path.dirname": "os.path.dirname({1})",
    "paths.dirname": 'os.path.dirname({1}) or "."',
    "paths.cwd": "os.getcwd()",
    "lfs.currentdir": "os.getcwd()",
    "lfs.attributes": "lua.attributes({*})",
    "threads": "lua.threads({*})#2",
    "threads.Threads": "lua.threads({*})#2",
    "torch.setmetatable": "lua.instance({1}, {2})",
    "ffi.copy": "lua.copy_memory({*})",
    "ffi.string": "lua.text_at({*})",
    "torch.pointer": "lua.pointer({1})",
    "paths.dir": "lua.files({1})",
    "sys.clock": "time.time()",
    "sys.dirname": 'os.path.dirname({1}) or "."',
    "sys.execute": "subprocess.getoutput({1})",
    "sys.fexecute": "subprocess.getoutput({1})",
    "sys.sleep": "time.sleep({1})",
    "torch.isTypeOf": "lua.is_type_of({1}, {2})",
    "torch.typename": "lua.typename({1})",
    "torch.type": "lua.type_name({1})",
    "cjson.encode": "json.dumps({1})",
    "cjson.decode": "json.loads({1})",
    "coroutine.create": "lua.coroutine.create({1})",
    "coroutine.wrap": "lua.coroutine.wrap({1})",
    "coroutine.status": "lua.coroutine.status({1})",
    "coroutine.resume": "lua.coroutine.resume({*})#?",
    "coroutine.yield": "lua.coroutine.yield_({*})#?",
    "stringx.split": "{1.}.split({2})",
    "stringx.strip": "{1.}.strip()",
    "stringx.startswith": "{1.}.startswith({2})",
    "stringx.endswith": "{1.}.endswith({2})",
    "stringx.replace": "{1.}.replace({2}, {3})",
}


def filled(template: str, arguments: list[Code]) -> Code:
    """Return a template with arguments in it; behind ``#``, how many values the call gives, if
    known.
    """
    spread: int | None = 1
    if "#" in template:
        template, _, count = template.partition("#")
        spread = None if count == "?" else int(count)

    def part(match: re.Match[str]) -> str:
        name = match[1]
        if name == "*":
            return ", ".join(a.text for a in arguments)
        number = int(name.rstrip("."))
        if number > len(arguments):
            return "None"
        one = arguments[number - 1]
        return one.atom if name.endswith(".") else one.text

    text = re.sub(r"\{(\*|\d\.?)\}", part, template)
    text = text.replace("(, ", "(")
    level = code.ATOM
    if " * " in template:
        level = code.MULTIPLY
    elif " or " in template:
        level = code.OR
    elif " is " in template:
        level = code.COMPARE
    return Code(text, level, spread=spread)
