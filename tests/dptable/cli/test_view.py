"""`dptable view`: one page, in which what a file holds is text."""

from __future__ import annotations

import json
import re
import shutil

import pytest
import torch

from compat import nn, t7
from dptable.cli import main
from dptable.cli.view import page

EVIL = "</script><script>document.title = 'run'</script>"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def value():
    net = nn.Sequential(nn.SpatialConvolution(3, 4, 5, 5), nn.Sequential(nn.ReLU()))
    return {"net": net, EVIL: EVIL, "images": torch.rand(2, 3, 8, 8), "epoch": 3}


def data(text):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def test_the_page_tells_what_is_in_the_file():
    root = data(page(value(), "a.t7"))
    below = {node["name"]: node for node in root["below"]}
    assert set(below) == {"net", EVIL, "images", "epoch"}
    convolution = below["net"]["below"][0]
    assert ["nInputPlane", "3"] in convolution["fields"]
    assert "304 parameters" in convolution["size"]
    assert sum(convolution["histograms"][0]["counts"]) == 300
    assert len(convolution["pictures"]) == 4 and len(below["images"]["pictures"]) == 2


def test_text_of_a_file_is_no_part_of_the_page():
    text = page(value(), EVIL)
    assert text.count("<script") == 2 and text.count("</script") == 2
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg|http-equiv", "", text)


def test_a_table_that_holds_itself_is_told_once():
    table = {"a": 1}
    table["self"] = table
    root = data(page(table, "a.t7"))
    assert root["below"][1]["text"] == "(told above)"


def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    t7.save("a.t7", value())
    assert main(["view", "a.t7", "--no-browser"]) == 0
    assert "a.html: " in capsys.readouterr().out
    assert main(["view", "a.t7", "--no-browser"]) == 1
    assert capsys.readouterr().err == "dptable: a.html exists; --force replaces it\n"


@pytest.mark.needs("playwright")
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.slow
def test_fold_unfold_and_search(tmp_path):
    from playwright.sync_api import sync_playwright

    path = tmp_path / "a.html"
    path.write_text(page(value(), "a.t7"))
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown = browser.new_page()
        shown.goto(path.as_uri())
        assert shown.title() == "a.t7"
        assert shown.get_by_text("nn.ReLU").count() == 0
        shown.get_by_text("net: nn.Sequential").click()
        assert shown.get_by_text("nn.SpatialConvolution(3 -> 4, 5x5)").first.is_visible()
        shown.get_by_text("net: nn.Sequential").first.click()
        assert not shown.get_by_text("nn.SpatialConvolution(3 -> 4, 5x5)").first.is_visible()
        shown.get_by_placeholder("search names and classes").fill("relu")
        assert shown.locator(".found").count() == 1
        assert shown.get_by_text(EVIL).count() > 0 and shown.title() == "a.t7"
        browser.close()
