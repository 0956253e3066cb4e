"""Rules that make Python as people write it."""

from __future__ import annotations

import contextlib
import io
import textwrap

import pytest

from compat.port.polish.rules import polished

CHANGED = [
    # Tables that are filled at once
    ('d = {}\nd["a"] = 1\nd["b"] = 2', 'd = {\n"a": 1,\n"b": 2\n}'),
    ("x = [1]\nx.append(2)", "x = [1,\n2\n]"),
    ("x = []\nfor i in y:\n    x.append(i * 2)", "x = [i * 2 for i in y]"),
    ("x = []\nfor i in y:\n    if i > 1:\n        x.append(i)", "x = [i for i in y if i > 1]"),
    ("x = []\nfor i in y:\n    x.append(i)", "x = list(y)"),
    ("x = []\nfor i in range(1, n + 1):\n    x.append(0)", "x = [0 for _ in range(n)]"),
    ("d = {}\nfor i in y:\n    d[i] = 1", "d = {i: 1 for i in y}"),
    ("d = {}\nfor a, b in e:\n    d[a] = b", "d = dict(e)"),
    ("for i in y:\n    x.append(i)", "x.extend(y)"),
    ("x = []\nfor i in y:\n    x.append(i)\nx.sort()", "x = sorted(y)"),
    ("x = []\nfor i in y:\n    x.append(-i)\nx.sort()", "x = sorted(-i for i in y)"),
    ("x = list(y)\nx.sort(reverse=True)", "x = sorted(y, reverse=True)"),
    ("a, b = 1, 2\na, b = a, b\na = a", "a, b = 1, 2"),
    ('s = f"{str(n)}"\ns += f"{str(n)}"\nprint(f"{n}")', 's = str(n)\ns += str(n)\nprint(f"{n}")'),
    (
        'print(f"{n}\\n", end="")\nprint("\\n", sep="", end="")\nprint("a\\\\\\n", sep="", end="")',
        'print(f"{n}")\nprint()\nprint("a\\\\")',
    ),
    (
        "class C(dict):\n    def __init__(self):\n        super().__init__()\n"
        "    def g(self):\n        return 1\n",
        "class C(dict):\n    def g(self):\n        return 1\n",
    ),
    # Loops
    ("for i in range(len(y)):\n    print(y[i])", "for entry in y:\n    print(entry)"),
    ("for i in range(len(words)):\n    print(words[i])", "for word in words:\n    print(word)"),
    (
        "for i in range(1, len(words) + 1):\n    print(i, words[i - 1])",
        "for i, word in enumerate(words, 1):\n    print(i, word)",
    ),
    (  # the next loop has an i of its own
        "for i in range(len(y)):\n    print(y[i])\nfor i in range(2):\n    print(i)",
        "for entry in y:\n    print(entry)\nfor i in range(2):\n    print(i)",
    ),
    (
        "def g():\n    for i in range(1, n + 1):\n        print(x[0] * (i - 1), i - 1)\n\n\ng()",
        "def g():\n    for i in range(n):\n        print(x[0] * i, i)\n\n\ng()",
    ),
    (
        "def g():\n    for i in range(1, 3):\n        print(y[i - 1])\n\n\ng()",
        "def g():\n    for i in range(2):\n        print(y[i])\n\n\ng()",
    ),
    (
        "def g():\n    for entry in y:\n        v = entry\n        print(v)\n\n\ng()",
        "def g():\n    for v in y:\n        print(v)\n\n\ng()",
    ),
    (  # the list inside would have the same name for its entries
        "for i in range(len(y)):\n    for j in range(len(words)):\n        print(words[j], y[i])\n"
        "    for j in range(len(x)):\n        print(x[j])\n    print(y[i])",
        "for entry in y:\n    for word in words:\n        print(word, entry)\n"
        "    for j in range(len(x)):\n        print(x[j])\n    print(entry)",
    ),
    ("for i, x in enumerate(y, 1):\n    print(x)", "for x in y:\n    print(x)"),
    ("x = []\nfor i, v in enumerate(y, 1):\n    x.append(v)", "x = list(y)"),
    (  # an entry each
        "def g():\n    for i in range(len(y)):\n        print(y[i])\n"
        "    for i in range(len(w)):\n        print(w[i])\n\n\ng()",
        "def g():\n    for entry in y:\n        print(entry)\n"
        "    for entry in w:\n        print(entry)\n\n\ng()",
    ),
    (
        "def g():\n    v, z = [], 1\n    if z:\n        f()\n"
        "    for i in f():\n        v.append(i)\n",
        "def g():\n    v, z = [], 1\n    if z:\n        f()\n    v.extend(f())\n",
    ),
    # Conditions
    ('print(w == "a" or w == "b" or n > 1)', 'print(w in ("a", "b") or n > 1)'),
    ('print(n > 1 and w != "a" and w != "b")', 'print(n > 1 and w not in ("a", "b"))'),
    ("print(n >= 1 and n <= 4)", "print(1 <= n <= 4)"),
    # Declarations
    ("if n:\n    v = lua.nil\n    v = 1\n    print(v)", "if n:\n    v = 1\n    print(v)"),
    (
        "def f(a):\n    v = w = lua.nil\n    if a:\n        v = 1\n    else:\n        v = 2\n"
        "    if a:\n        w = 3\n    return v, w\n\n\nprint(f(0), f(1))",
        "def f(a):\n    w = None\n    if a:\n        v = 1\n    else:\n        v = 2\n"
        "    if a:\n        w = 3\n    return v, w\n\n\nprint(f(0), f(1))",
    ),
    (
        "def f(a):\n    v = None\n    if a:\n        v = 1\n    else:\n        v = 2\n    return v"
        "\n\n\nprint(f(0))",
        "def f(a):\n    if a:\n        v = 1\n    else:\n        v = 2\n    return v"
        "\n\n\nprint(f(0))",
    ),
    # Comments
    ("# says why\n#\nprint(1)", "# says why\nprint(1)"),
    ("# says why\ndef f():\n    return 1", 'def f():\n    """Says why."""\n    return 1'),
    ("def f():\n    # says why\n\n    return 1", 'def f():\n    """Says why."""\n\n    return 1'),
    (
        "def f():\n    # says why\n    #\n    return 1",
        'def f():\n    """Says why."""\n    return 1',
    ),
    (
        "def f():\n    # says why\n\n    # this\n    return 1",
        'def f():\n    """Says why."""\n\n    # this\n    return 1',
    ),
]
KEPT = [
    "class C(dict):\n    def __init__(self, n):\n        super().__init__()\n\n    g = 1\n",
    'print("a\\\\n", end="")\nprint(n, "\\n", sep="", end="")\nprint("a\\n", end="b")',
    "for i in f():\n    calls.append(i)",  # which f gives
    "# says why\n#\n# and how\nprint(1)",
    "def g():\n    for entry in y:\n        v = entry\n        print(v + entry)\n\n\ng()",
    "def g():\n    for v, entry in e:\n        v = entry\n        print(v)\n\n\ng()",
    "v = None\nif n > 5:\n    v = 1\nprint(v)",
    "v = None\nif n > 5:\n    v = 1\nelse:\n    v = [v]\nprint(v)",
    "v = [1] * 9\nprint(len(v))\nv = None  # its memory\nv = [1]\nprint(v)",
    "def g():\n    return v\n\n\nv = None\nv = [g()]\nprint(v)",
    "def g():\n    global n\n    n = None\n    n = [f()]\n\n\ng()\nprint(n)",
    "for i in range(len(y)):\n    print(y[i])\nfor _ in range(2):\n    print(i)",
    "for i in range(1, n + 1):\n    print(i - 1)\nprint(i)",
    "for i in range(1, n + 1):\n    print(i - 1, i)",
    "for i in range(1, n + 1):\n    calls.append(lambda: i - 1)",
    "for i in range(1, n + 1):\n    calls.append(lambda i=i: i - 1)",
    "for i, x in enumerate(y, 1):\n    print(x)\nprint(i)",
    "x = list(y)\n# by size\nx.sort()",
    "x = list(y)\nz = x\nx.sort()",
    'd = {"a": 1}\nd["a"] = 2',  # the second counts
    'd = {}\nd["a"] = len(d)',
    "x = []\nfor i in y:\n    x.append(len(x) + i)",
    "x = []\nfor i in y:\n    x.append(i * 2)\nprint(i)",  # the loop's variable is read later
    "x = []\nz = x\nfor i in y:\n    x.append(i * 2)",
    "x = []\n\n\ndef g():\n    return len(x)\n\n\nfor i in y:\n    x.append(g())",
    "x = []\nfor i in y:\n    x.append(i * 2)  # why",
    "fs = []\nfor i in y:\n    fs.append(lambda: i)",  # all of them see the last i
    "for i in range(len(y)):\n    y[i] = y[i] + 1",
    "for i in range(len(y)):\n    change()\n    print(y[i])",
    'print(f() == "a" or f() == "b")',
    "print(f() >= 1 and f() <= 4)",
    "print(w == n or w == y)",
    "# local x = 1\ndef g():\n    return 1",
    "# Copyright somebody\ndef g():\n    return 1",
    "# port: this is open\ndef g():\n    return 1",
    "def g():\n    # about n\n    n = 1\n    return n",
]
START = """
y, words, e, n, w = [1, 2, 3], ["u", "v"], [(1, 2), (3, 4)], 3, "b"
x = [0]
calls = []
def f():
    calls.append(1)
    return len(calls)
def change():
    y[-1] = 9
"""


def _prints(text: str) -> tuple[str, dict[str, object]]:
    """What a program prints, and its variables."""
    known: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(START + text.replace("lua.nil", "None"), known)
    plain = (int, str, list, dict, tuple, type(None))
    return printed.getvalue(), {
        k: v for k, v in known.items() if isinstance(v, plain) and k[0] != "_"
    }


@pytest.mark.parametrize(("text", "expected"), CHANGED)
def test_what_becomes_of_a_program(text: str, expected: str) -> None:
    made = polished(text + "\n")
    assert made == expected + "\n"
    if "fs" not in text:
        said, known = _prints(text)
        said_now, known_now = _prints(made)
        assert said_now == said
        shared = known.keys() & known_now.keys()
        assert {k: known_now[k] for k in shared} == {k: known[k] for k in shared}
        assert not known_now.keys() - known.keys() - {"entry", "word"}


@pytest.mark.parametrize("text", KEPT)
def test_what_stays(text: str) -> None:
    assert polished(text + "\n") == text + "\n"


def test_comments_stay_where_they_were() -> None:
    text = 'd = {}  # first\nd["a"] = 1  # one\n# two\nd["b"] = 2  # three\n'
    assert polished(text) == 'd = {  # first\n"a": 1,  # one\n# two\n"b": 2,  # three\n}\n'


def test_names_that_lua_code_takes_are_kept() -> None:
    text = 'f = lua.function("return g()", globals(), "v g")\nv = lua.nil\nv = 1\n'
    assert "v = None" in polished(text)


def test_a_file_is_closed_by_with() -> None:
    text = 'f = lua.open("a", "w")\n# why\nf.write("x")\nif n:\n    f.write("y")\n'
    text += "f.close()\nprint(1)\n"
    assert polished(text) == textwrap.dedent("""\
        with lua.open("a", "w") as f:
            # why
            f.write("x")
            if n:
                f.write("y")
        print(1)
        """)


@pytest.mark.parametrize(
    "text",
    [
        'f = lua.open("a")\nkeep(f)\nf.close()\n',
        'f = lua.open("a")\nif f is None:\n    print(1)\nf.close()\n',
        'f = lua.open("a")\nf.read()\nf.close()\nprint(f)\n',
        'f = lua.open("a")\nif n:\n    f.read()\n    f.close()\n',
    ],
)
def test_a_file_that_others_see_is_left_alone(text: str) -> None:
    assert polished(text) == text
