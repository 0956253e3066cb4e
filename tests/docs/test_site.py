"""The site: built strictly, and looked at in a real browser."""

from __future__ import annotations

import importlib
import inspect
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
        [sys.executable, "-m", "mkdocs", "build", "-d", str(folder)],
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
    for name in ("torch.cat", "torch.manualSeed", "paths.concat", "sys.clock", "xlua.unpack"):
        assert f"<code>{name}</code>" in names
    assert 'href="api/nn_layers.html#compat.nn.Linear"' in names


def test_the_reference_has_every_public_name(site):
    shown = "".join(page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html"))
    for package in ("compat.nn", "compat.optim", "compat.t7", "compat.torch", "dptable.comm"):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                assert f'id="{package}.{name}"' in shown, name


PHONE = {"width": 390, "height": 800}
SERIOUS = ("serious", "critical")


def pages(site: Path) -> list[Path]:
    return [file for file in sorted(site.rglob("*.html")) if file.name != "404.html"]


@pytest.fixture
def browser(site) -> Iterator[Any]:
    with chromium() as started:
        yield started


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


def test_every_page_loads_on_a_phone_without_errors(browser, site, address):
    page = browser.new_page(viewport=PHONE)
    problems: list[str] = []
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    for file in pages(site):
        page.goto(f"{address}/{file.relative_to(site).as_posix()}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, (file.name, width)
    assert not problems


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, site, address, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = browser.new_page(color_scheme=scheme, viewport=PHONE)
    for file in pages(site):
        page.goto(f"{address}/{file.relative_to(site).as_posix()}")
        # Rows and names of long pages are alike; all of them take axe minutes.
        page.evaluate(
            "document.querySelectorAll('tr:nth-child(n+20), .doc-object:nth-child(n+12), "
            "h2:nth-of-type(n+30), li.md-nav__item:nth-child(n+30)').forEach(e => e.remove())"
        )
        found = axe.run(page).response["violations"]
        serious = [
            (each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in SERIOUS
        ]
        assert not serious, file.name


def test_code_can_be_copied(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/start.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    block = page.locator("pre", has_text="dptable inspect").or_(page.locator("pre")).first
    block.hover()
    block.locator("button[data-md-type=copy]").or_(
        page.locator("nav .md-code__button")
    ).first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() and copied.strip() in page.locator("article").inner_text()


def test_the_search_finds_a_class(browser, address):
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(f"{address}/index.html")
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("SpatialConvolutionMM")
    found = page.locator(".md-search-result__item").first
    found.wait_for(state="attached", timeout=60000)
    assert "SpatialConvolutionMM" in found.inner_text()
