"""The contents of a .t7 file as a tree, in which a graph is the list of its modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.t7.inspection import Entry

PARAMETERS = ("weight", "bias")
# Of a gModule: each holds the whole graph, from another node on.
_GRAPH_FIELDS = ("fg", "bg", "innode", "outnode", "forwardnodes", "backwardnodes")
_LONGEST = 300  # characters of a path


class Branch:
    """An entry of a file and the entries in it.

    Attributes:
        label: its name in the entry that contains it.
        path: its place as shown.
        below: the entries in it.
        target: for a reference, the entry that it refers to.
        hidden: whether it is not shown.
        parameters: the number of its parameters, without those of earlier branches.
        left_out: on the root, all hidden branches.
    """

    __slots__ = (
        "below",
        "entry",
        "hidden",
        "label",
        "left_out",
        "parameters",
        "path",
        "target",
    )

    def __init__(self, entry: Entry, label: str) -> None:
        self.entry = entry
        self.label = label
        self.path = entry.path
        self.below: list[Branch] = []
        self.target: Branch | None = None
        self.hidden = False
        self.parameters = 0
        self.left_out: list[Branch] = []

    def walk(self) -> Iterator[Branch]:
        """Yield this branch and all below, in the order of the tree."""
        stack = [self]
        while stack:
            branch = stack.pop()
            yield branch
            stack += reversed(branch.below)


def tree_of(entries: Iterable[Entry]) -> Branch:
    """Return the tree of a file's entries. The root itself stands for no entry."""
    root = Branch(Entry("", -1, 0, "", None), "")
    way = [root]
    order = [root]
    by_index: dict[int, Branch] = {}
    seen = set()
    header: Branch | None = None
    left = 0
    for entry in entries:
        if entry.kind == "unread":
            continue
        # What a class writes before its fields has no name of its own, but is in the object, too.
        if header is not None and entry.depth <= header.entry.depth + 1:
            if entry.depth <= header.entry.depth or not left:
                header = None
            else:
                left -= entry.length or 0 if entry.kind == "values" else 1
        depth = entry.depth + 1 + (header is not None)
        is_header = depth < len(way) and way[depth].path == entry.path
        del way[depth + is_header :]
        above = way[-1]
        branch = Branch(entry, "header" if is_header else entry.label)
        if is_header and entry.kind == "table":
            header, left = branch, entry.length or 0
        above.below.append(branch)
        way.append(branch)
        order.append(branch)
        if entry.index is not None and entry.kind == "reference":
            branch.target = by_index.get(entry.index)
        elif entry.index is not None:
            by_index.setdefault(entry.index, branch)
        if entry.kind == "tensor" and entry.label in PARAMETERS:
            place = (entry.storage, entry.storage_offset, entry.shape)
            if place not in seen:
                seen.add(place)
                branch.parameters = entry.elements
    for branch in reversed(order):
        branch.parameters += sum(inner.parameters for inner in branch.below)
    for branch in order:
        if branch.entry.typename == "nn.gModule" and branch.entry.kind == "object":
            _list_modules(branch)
    root.left_out = [branch for branch in order if branch.hidden]
    return root


def tensors(root: Branch) -> Iterator[tuple[str, Entry]]:
    """Yield every tensor once, with its first place; hidden tensors come last."""
    seen = set()
    shown = [(branch.path, branch) for branch in root.walk()]
    met = [
        (path, branch.target if branch.target is not None and branch.target.hidden else branch)
        for path, branch in shown
    ]
    for path, branch in [*met, *((branch.path, branch) for branch in root.left_out)]:
        if branch.entry.kind == "tensor" and id(branch) not in seen:
            seen.add(id(branch))
            yield path, branch.entry


def _list_modules(graph: Branch) -> None:
    """Show a gModule's modules, in the order in which they are computed, instead of its nodes."""
    hidden = [branch for branch in graph.below if branch.label in _GRAPH_FIELDS]
    for branch in hidden:
        for inner in branch.walk():
            inner.hidden = True
    found = _modules_of(hidden)
    table = next((branch for branch in graph.below if branch.label == "modules"), None)
    if table is None:  # of before gModule was a container
        entry = Entry(f"{graph.path}.modules".lstrip("."), 0, 0, "table", None, length=len(found))
        table = Branch(entry, "modules")
        graph.below.append(table)
    inside = {id(branch) for branch in found}
    shown = []
    for number, branch in enumerate(table.below or found, 1):
        if branch.target is not None and id(branch.target) in inside:
            inside.discard(id(branch.target))  # in full where it comes first
            branch = branch.target
        branch.label = f"[{number}]"
        _move(branch, table.path + branch.label)
        shown.append(branch)
    table.below = shown
    graph.below = [branch for branch in graph.below if branch.label not in _GRAPH_FIELDS]


def _modules_of(hidden: list[Branch]) -> list[Branch]:
    """Return the modules of the nodes in the fields of a graph."""
    modules = []
    stack = hidden[::-1]
    while stack:
        branch = stack.pop()
        if branch.label == "module" and branch.entry.kind == "object":
            modules.append(branch)
            continue  # a net in it has nodes of its own
        stack += reversed(branch.below)
    return modules


def _move(branch: Branch, path: str) -> None:
    """Show a branch, with its contents, in another place."""
    stack = [(branch, path)]
    while stack:
        inner, place = stack.pop()
        if len(place) > _LONGEST:
            place = f"{place[: _LONGEST // 2]} … {place[-_LONGEST // 2 :]}"
        inner.path = place
        inner.hidden = False
        for child in inner.below:
            dot = "" if child.label.startswith("[") or not place else "."
            stack.append((child, f"{place}{dot}{child.label}"))
