"""Command lines of Torch7 scripts."""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from compat.lua_tables import key_of

Value = bool | float | str | list[Any] | dict[Any, Any]


class Options(dict[str, Any]):
    """Parsed options: ``opt["learningRate"]``, or ``opt.learningRate`` as in Lua."""

    def __getattr__(self, name: str) -> Any:
        key = key_of(self, name)
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"there is no option {key!r}, only {list(self)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[key_of(self, name)] = value


def now() -> str:
    """Return the time as logs show it."""
    return time.strftime("%c")


class Declared(Options):
    """An option, or an argument if it has no default: Torch7's table, ``key``, ``help``, ``type``
    and ``default``.
    """

    @property
    def name(self) -> str:
        return str(self.key.lstrip("-"))

    @property
    def label(self) -> str:
        """The name in the help."""
        return str(self.key) if "default" in self else f"<{self.name}>"


class CmdLine:
    """A parser of command lines, Torch7's ``torch.CmdLine``.

    ::

        cmd = torch7.CmdLine()
        cmd.option("-learningRate", 0.1, "initial learning rate")
        cmd.option("-nesterov", False, "use Nesterov momentum")
        opt = cmd.parse()

    Args:
        argseparator, keyseparator: what stands between options, and between key and value, in
            ``string``.

    Differs from Torch7: an argument of type ``number`` is converted (there it is always an error),
    and ``string`` does not print the options.
    """

    options: dict[str, Declared]
    arguments: list[Declared]
    helplines: list[Declared | str]
    dateformat: str | None

    def __init__(self, argseparator: str = ",", keyseparator: str = "=") -> None:
        self.argseparator = argseparator
        self.keyseparator = keyseparator
        self.options = {}
        self.arguments = []
        self.helplines = []
        self.dateformat = None
        self.silentio = False

    def silent(self) -> None:
        """Let ``log`` write to the file only."""
        self.silentio = True

    def addTime(self, name: str | None = None, format: str = "%Y-%m-%d %H:%M:%S") -> None:
        """Let ``log`` begin every line with the time (as by ``time.strftime``) and ``[name]: ``."""
        self.dateformat = format + ("" if name is None else f"[{name}]: ")

    def text(self, txt: str = "") -> None:
        """Add a line to the help."""
        self.helplines.append(txt)

    def argument(self, key: str, help: str | None = None, type: str | None = None) -> None:
        """Add an argument that must be given, by its position.

        Args:
            key: its name in the table of ``parse``.
            help: a line of the help.
            type: ``string`` or ``number``; default: ``string``.
        """
        entry = Declared(key=key, help=help, type=type)
        self.arguments.append(entry)
        self.helplines.append(entry)

    def option(
        self, key: str, default: Value, help: str | None = None, type: str | None = None
    ) -> None:
        """Add an option. A boolean option takes no value: it turns the default around.

        Args:
            key: its name, with dashes: ``-learningRate``.
            default: a string, number or boolean, which also gives the option its type. A list or
                dict, too, that no command line can set.
            help: a line of the help.
            type: Lua's name of the type, checked against the default.

        Raises:
            ValueError: the default is None, or not of the Lua type ``type``.
        """
        found = _lua_type(default, f"the default of {key}")
        if type is not None and type != found:
            raise ValueError(
                f"the type of {key} is {type!r}; that of its default, {found!r}, is accepted"
            )
        entry = Declared(key=key, default=default, help=help, type=found)
        self.options[key] = entry
        self.helplines.append(entry)

    def default(self) -> Options:
        """Return the defaults of all options."""
        return Options((entry.name, entry.default) for entry in self.options.values())

    def parse(self, arg: Sequence[str] | None = None) -> Options:
        """Return the options and arguments by name, without dashes.

        A wrong command line prints what is wrong and the help, and ends the program; so does
        ``-help``.

        Args:
            arg: the command line without the program; ``sys.argv[1:]`` if not given.
        """
        left = list(sys.argv[1:] if arg is None else arg)
        params = self.default()
        arguments = iter(self.arguments)
        while left:
            word = left.pop(0)
            if word in ("-help", "-h", "--help"):
                self.help(sys.argv[0])
                sys.exit(0)
            entry = self.options.get(word) or next(arguments, None)
            if entry is None:
                self.error(f"invalid argument: {word}")
            if entry.type == "boolean":
                params[entry.name] = not entry.default
                continue
            if "default" in entry:
                if not left:
                    self.error(f"missing argument for option {word}")
                word = left.pop(0)
            params[entry.name] = self._value(entry, word)
        if next(arguments, None) is not None:
            self.error("not enough arguments")
        return params

    def _value(self, entry: Declared, word: str) -> Value:
        if entry.type == "table":
            self.error(f"unknown required option type {entry.type}")
        if entry.type != "number":
            return word
        try:
            return number(word)
        except ValueError:
            self.error(f"invalid type for option {entry.key} (should be {entry.type})")

    def string(self, prefix: str, params: Mapping[str, Value], ignore: Collection[str] = ()) -> str:
        """Return a name for the folder of an experiment: ``prefix``, the arguments, and the options
        that differ from their defaults. Prints each of these, and what it leaves out, as Torch7
        does.

        Args:
            ignore: options to leave out. As a dict, an option with the value False is always
                named.
        """
        return folder_name(self, prefix, params, ignore)

    def log(self, file: str, params: Mapping[str, Any] | None = None) -> Log:
        """From now on write to ``file``, too, what is printed; first the time and the parameters. A
        missing folder is made.

        Returns:
            The log, for ``close()`` or a ``with`` statement.
        """
        return log(file, params, self.dateformat, lambda: self.silentio)

    def error(self, msg: str) -> NoReturn:
        """Print ``msg`` and the help, and end the program."""
        print()
        sys.stdout.flush()
        sys.stderr.write(msg)
        print()
        self.help()
        sys.exit(1)

    def help(self, program: str = "") -> None:
        """Print what the program takes, after its name."""
        arguments = [entry.label for entry in self.arguments]
        print(*filter(None, ["Usage:", program, "[options]", *arguments]))
        entries = [line for line in self.helplines if isinstance(line, Declared)]
        width = max((len(entry.label) for entry in entries), default=0)
        for line in self.helplines:
            if isinstance(line, str):
                print(line)
                continue
            text = f"  {line.label:{width}}"
            if line.help:
                text += f" {line.help}"
            if "default" in line:
                text += f" [{_lua_text(line.default)}]"
            print(text)


class ArgumentParser(argparse.ArgumentParser):
    """A parser of ``argparse`` that takes the lines ``torch.CmdLine`` takes, and refuses others in
    its words: a value may begin with a dash, and no option has a short form.

    ::

        parser = cmdline.ArgumentParser(description="Trains a net")
        parser.add_argument("-lr", type=float, default=0.1, help="initial learning rate")
        opt = parser.parse_args()

    Takes options of one name with a default, and arguments. The description, the titles of groups
    and the epilog are lines of the help as they stand there.
    """

    def declared(self) -> CmdLine:
        """Return the parser of Torch7 that takes the same."""
        made = CmdLine()
        # argparse tells the groups nowhere else.
        groups = {id(a): g for g in self._action_groups for a in g._group_actions}  # noqa: SLF001
        titled = self._action_groups[:2]  # argparse's own, which Torch7 shows no titles of
        texts = [self.description]
        for action in self._actions:
            if action.dest == "help":
                continue
            group = groups[id(action)]
            if group not in titled:
                titled.append(group)
                texts.append(group.title)
            made.helplines += _lines(texts)
            texts = []
            told = None if action.help is None else action.help.replace("%%", "%")
            if action.option_strings:
                made.option(action.option_strings[0], action.default, told)
            else:
                made.argument(action.dest, told, "number" if action.type is number else None)
        made.helplines += _lines([*texts, self.epilog])
        return made

    # argparse's returns a Namespace, which neither prints nor is saved as Lua's table of options.
    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: None = None
    ) -> Options:
        """Return the options and arguments by name; a wrong line ends the program.

        Args:
            args: the command line without the program; ``sys.argv[1:]`` if not given.
        """
        return self.declared().parse(args)

    def error(self, message: str) -> NoReturn:
        """Print ``message`` and the help, and end the program."""
        self.declared().error(message)


def _lines(texts: Sequence[str | None]) -> list[str]:
    return [line for text in texts if text is not None for line in text.split("\n")]


def folder_name(
    parser: CmdLine | ArgumentParser,
    prefix: str,
    params: Mapping[str, Value],
    ignore: Collection[str] = (),
) -> str:
    """Return what ``CmdLine.string`` does, also of a parser of ``argparse``."""
    if isinstance(parser, ArgumentParser):
        parser = parser.declared()
    separators = parser.argseparator, parser.keyseparator
    defaults = {key.removeprefix("-"): e.default for key, e in parser.options.items()}
    arguments = {entry.name: "" for entry in parser.arguments}
    flags = dict(ignore) if isinstance(ignore, Mapping) else dict.fromkeys(ignore, True)
    named = []
    for name, value in params.items():
        if flags.get(name):
            print(f"-- ignore option {name}")
            continue
        text = f"{name}{separators[1]}{_folder_text(value)}"
        if name in defaults:
            default = defaults[name]
            if value != default or flags.get(name) is False:
                named.append(text)
                shown = "nil" if default is None else _lua_text(default)
                print(name, _folder_text(value), shown, sep="\t")
        elif name in arguments:
            arguments[name] = text
        else:
            print(f"WARNING: unknown option/argument: {name} IGNORING for DIRECTORY NAME")
    given = [text for text in arguments.values() if text]
    behind = sorted(named) or [""] * bool(given)  # Torch7 ends it with a separator then
    return separators[0].join([*([prefix] if prefix else []), *given, *behind])


def log(
    file: str,
    params: Mapping[str, Any] | None = None,
    dateformat: str | None = None,
    is_silent: Callable[[], bool] = lambda: False,
) -> Log:
    """Write to a file, too, what is printed from now on, as ``CmdLine.log`` does."""
    made = Log(file, dateformat, is_silent)
    print(f"[program started on {now()}]")
    print("[command line arguments]")
    for key, value in (params or {}).items():
        print(key, _lua_text(value) if isinstance(value, (bool, float)) else value, sep="\t")
    print("[----------------------]")
    return made


class Log(io.TextIOBase):
    """Stands for standard output, and copies it to a file line by line."""

    def __init__(self, file: str, dateformat: str | None, is_silent: Callable[[], bool]) -> None:
        path = Path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8", newline="\n")
        self._dateformat = dateformat
        self._line = ""
        self._terminal: TextIO = sys.stdout
        self._is_silent = is_silent
        sys.stdout = self

    def write(self, text: str) -> int:
        if not self._is_silent():
            self._terminal.write(text)
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._file.write(f"{self._stamp()}{line}\n")
        if lines:
            self._file.flush()
        return len(text)

    def _stamp(self) -> str:
        return "" if self._dateformat is None else time.strftime(self._dateformat)

    def flush(self) -> None:
        if not self.closed:
            self._terminal.flush()

    def close(self) -> None:
        """Write the last line and give standard output back."""
        if self.closed:
            return
        if sys.stdout is self:
            sys.stdout = self._terminal
        if self._line:
            self._file.write(f"{self._stamp()}{self._line}\n")
        self._file.close()
        super().close()


def _lua_type(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (list, dict)):
        return "table"
    accepted = "a boolean, a number, a string or a table is accepted"
    raise ValueError(f"{name} is {value!r}; {accepted}")


def _lua_text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, dict)):
        return f"table: {id(value):#x}"
    return value if isinstance(value, str) else f"{value:.14g}"


def _folder_text(value: Value) -> str:
    return _lua_text(value)[0] if isinstance(value, bool) else _lua_text(value)


def number(word: str) -> float:
    """Return the number that a word of the command line is, a whole one as int.

    Raises:
        ValueError: it is none.
    """
    if "_" not in word:
        for kind in (int, lambda text: int(text, 16) if "x" in text.lower() else float(text)):
            try:
                value = kind(word.strip())
            except ValueError:
                continue
            return int(value) if abs(value) < 2**53 and value == int(value) else value
    raise ValueError(f"{word!r} is no number")
