"""`dptable view`: the page of a file. What is on it: `tests/compat/viewer`."""

from __future__ import annotations

import json
import re
import webbrowser
from pathlib import Path
from typing import Any

import pytest
import torch

from compat import cutorch, nn, t7
from dptable.cli import main
from dptable.container.data_parallel_table import DataParallelTable


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda address: pytest.fail("a browser was opened"))
    return tmp_path


def looks(path: str) -> list[dict[str, Any]]:
    text = Path(path).read_text()
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    data = json.loads(found[1])
    return [data["looks"][data["rows"][row][0]] for row in data["nodes"]]


def test_the_command_writes_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    t7.save("a.t7", {"net": nn.Sequential(nn.SpatialConvolution(3, 4, 5, 5)), "epoch": 3})
    assert main(["view", "a.t7", "--no-browser"]) == 0
    assert capsys.readouterr().out.startswith("a.html: ")
    assert main(["view", "a.t7", "--no-browser"]) == 1
    assert capsys.readouterr().err == "dptable: a.html exists; --force replaces it\n"
    assert main(["view", "a.t7", "--no-browser", "--force", "--input", "1x3x9x9"]) == 0
    assert looks("a.html")[1]["input"] == "1x3x9x9"
    assert main(["view", "a.t7", "--no-browser", "-o", "b.html"]) == 0
    assert looks("b.html")[1]["input"] == "1x3x28x28"


def test_the_page_is_opened(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    t7.save("a.t7", torch.ones(3))
    assert main(["view", "a.t7"]) == 0
    assert opened == [(here / "a.html").as_uri()]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["none.t7"], "none.t7: No such file or directory"),
        (["bad.t7"], "bad.t7, at byte"),
        (["good.t7", "--input", "wide"], "input is 'wide'; sizes like 1x3x224x224"),
        (["good.t7", "-o", "no/such/folder.html"], "no/such/folder.html"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    t7.save("good.t7", {"net": nn.Sequential(nn.Linear(3, 2))})
    Path("bad.t7").write_bytes(Path("good.t7").read_bytes()[:100])
    assert main(["view", *arguments, "--no-browser"]) == 1
    told = capsys.readouterr().err
    assert error in told and told.count("\n") == 1
    assert not list(here.glob("*.html"))


@pytest.mark.cpus(4)
def test_replicas_are_one_net_on_several_devices() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    t7.save("dpt.t7", DataParallelTable(1).add(net, [1, 3, 4]))
    cutorch.configure(["cpu"])  # the devices of the file are not here
    assert main(["view", "dpt.t7", "--no-browser"]) == 0
    container, first, second, third, *_ = looks("dpt.html")
    assert container["kind"] == "nn.DataParallelTable" and container["modules"] == 3
    assert container["input"] == "1x3" and container["multiplyAdds"] == 6
    names = [replica["name"] for replica in (first, second, third)]
    assert names == ["replica 1, GPU 1", "replica 2, GPU 3", "replica 3, GPU 4"]
    assert second["same"] == third["same"] == 1 and "same" not in first


@pytest.mark.cpus(2)
def test_a_running_container_is_shown_in_notebooks() -> None:
    container = DataParallelTable(1).add(nn.Linear(3, 2), [1, 2])
    container.forward(torch.ones(4, 3))
    assert "replica 2, GPU 2" in container._repr_html_()
    assert container.forward(torch.ones(4, 3)).shape == (4, 2)
