"""Package torchx."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import lua

TORCHX = [
    ("torch.find(torch.Tensor{{1, 2}, {2, 5}}, 2)", [2, 3]),
    ("torch.find(torch.Tensor{{1, 2}, {2, 5}}, 2, 2)", [[2], [1]]),
    ("torch.group(torch.Tensor{5, 3, 5})[5].idx:sum()", 4),
    ("torch.group(torch.Tensor{5, 3, 5}, function(a, b) return b - a < 3 end)[3].val:size(1)", 3),
    ("torch.concat({torch.ones(2, 1), torch.zeros(2, 2)}, 2):size(2)", 3),
    ("torch.Tensor():concat({torch.ones(2), torch.zeros(1)}, 1):sum()", 2),
    ("({torch.treemax(torch.Tensor{0, 13, 1, 10, 7, 5}, {3, 2})})[2]", 2),
    ("torch.md5.sumhexa('helloworld!')", "420e57b017066b44e05ea1577f6e2e12"),
    ("#torch.md5.sum('')", 16),
    ("({torch.remap({torch.ones(2)}, nil, function(x, y) y:set(x) end)})[2][1]:sum()", 2),
    ("torchx.recursiveSum(torchx.recursiveCopy({}, {torch.ones(2), {torch.ones(3)}}))", 5),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "value"), TORCHX)
def test_torchx(runtime: lua.Runtime, expression: str, value: object) -> None:
    runtime.execute("require 'torchx'")
    assert runtime.eval(expression) == value


def test_torchx_draws_and_keeps_names_of_files(runtime: lua.Runtime, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("b.PNG", "frame1.png", "c.txt", "inner/a.png"):
        (tmp_path / name).touch()
    runtime.execute("require 'torchx' folder = ...", str(tmp_path))
    found = runtime.execute(
        """local files, names = paths.indexdir(folder, 'png', false, '*frame*'), {}
        for i = 1, files:size() do names[i] = files:filename(i) end
        local again = paths.indexdir(folder, 'png', true)
        os.remove(files.cachefile)
        table.insert(names, again:size())
        return names"""
    )
    assert sorted(found[:2]) == [f"{tmp_path}/b.PNG", f"{tmp_path}/inner/a.png"]
    assert found[2:] == [2]
    counts = runtime.execute(
        """local draws, counts = torch.AliasMultinomial(torch.Tensor{0.1, 0.2, 0.7}), {0, 0, 0}
        math.randomseed(1)
        for _ = 1, 5000 do
           local k = draws:draw()
           counts[k] = counts[k] + 1 / 5000
        end
        return counts"""
    )
    assert counts == pytest.approx([0.1, 0.2, 0.7], abs=0.03)
