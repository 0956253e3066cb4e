"""The site: built strictly, and looked at in a real browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import chromium
from support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.needs("mkdocs"), pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_loads_anything_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=[\"']?(https?:[^\"' >]*)", text)
        assert not loaded, page


def test_the_index_has_torch7s_names(site):
    names = (site / "names.html").read_text(encoding="utf-8")
    for name in ("nn.SpatialConvolutionMM", "optim.lbfgs", "nn.gModule", "cudnn.RNN"):
        assert f"<code>{name}</code>" in names


@pytest.fixture
def page(site) -> Iterator[Any]:
    with chromium() as browser:
        yield browser.new_page(viewport={"width": 390, "height": 800})


@pytest.fixture
def address(site) -> Iterator[str]:
    """Of a server on this machine: the search needs one."""
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        cwd=site,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    found = re.search(r"port (\d+)", server.stdout.readline())
    assert found is not None
    yield f"http://127.0.0.1:{found[1]}"
    server.kill()
    server.wait()
    server.stdout.close()


def test_every_page_loads_on_a_phone_without_errors(page, site, address):
    problems: list[str] = []
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    for file in sorted(site.rglob("*.html")):
        if file.name == "404.html":
            continue
        page.goto(f"{address}/{file.relative_to(site).as_posix()}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, (file.name, width)
    assert not problems


def test_the_search_finds_a_class(page, address):
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(f"{address}/index.html")
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("SpatialConvolutionMM")
    found = page.locator(".md-search-result__item").first
    found.wait_for(state="attached", timeout=60000)
    assert "SpatialConvolutionMM" in found.inner_text()
