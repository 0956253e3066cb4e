"""The page in a real browser: Chromium without a window, where it and Playwright are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from support.browser import chromium

from compat import nn, t7
from compat.viewer import page

EVIL = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Show a page, which must write nothing to the console and ask for nothing else."""
    context = browser.new_context(viewport={"width": 1300, "height": 800})
    told: list[str] = []

    def show(text: str) -> Any:
        path = tmp_path / "page.html"
        path.write_text(text)
        shown = context.new_page()
        shown.set_default_timeout(20_000)
        shown.on("console", lambda message: told.append(message.text))
        shown.on("pageerror", lambda error: told.append(str(error)))
        shown.on("dialog", lambda dialog: told.append("a dialog"))
        shown.on("request", lambda request: asked(request.url))
        shown.goto(path.as_uri())
        return shown

    def asked(address: str) -> None:
        if not address.startswith(("file:", "data:", "about:srcdoc")):
            told.append(address)

    yield show
    context.close()
    assert told == []


def checkpoint() -> Any:
    block = nn.Sequential(
        nn.ConcatTable(
            nn.Sequential(nn.SpatialConvolution(8, 8, 3, 3, 1, 1, 1, 1), nn.ReLU()), nn.Identity()
        ),
        nn.CAddTable(),
    )
    x = nn.Identity()()
    graph = nn.gModule([x], [nn.CAddTable()([nn.Linear(4, 3)(x), nn.Linear(4, 3)(x)])])
    first = nn.SpatialConvolution(3, 8, 5, 5)
    return {
        "net": nn.Sequential(first, block, nn.Sequential(nn.Sequential(nn.Tanh()))),
        "graph": graph,
        "optimState": {"learningRate": 0.25},
        "losses": [3.5, 2.5, 2.25, 2.125],
        "images": torch.rand(5, 3, 16, 16),
        "epoch": 7,
    }


def box(shown: Any, text: str) -> Any:
    return shown.locator("#stage .head", has_text=text)


def line(shown: Any, text: str) -> Any:
    return shown.locator("[role=treeitem]", has_text=text)


def fold(shown: Any) -> None:
    shown.get_by_role("button", name="fold", exact=True).click()


def test_boxes_fold_and_unfold(show: Any) -> None:
    shown = show(page(nn.Sequential(nn.Sequential(nn.Linear(4, 3), nn.Tanh()), nn.ReLU()), "a.t7"))
    assert shown.title() == "a.t7" and box(shown, "Tanh").count() == 1
    fold(shown)
    assert box(shown, "Tanh").count() == 0 and box(shown, "ReLU").count() == 1
    inner = box(shown, "2 modules").first
    inner.click()
    assert box(shown, "Linear").count() == 1 and line(shown, "Linear").count() == 1
    shown.locator("#stage .frame .frame > .head").click()
    assert box(shown, "Linear").count() == 0 and line(shown, "Linear").count() == 0


def test_lines_fold_and_unfold_with_clicks_and_keys(show: Any) -> None:
    shown = show(page({"deep": {"deeper": {"deepest": {"x": [1.5, 2, 3]}}}}, "a.t7"))
    assert line(shown, "deeper").count() == 0
    line(shown, "deep").click()
    assert line(shown, "deeper").count() == 1
    line(shown, "deep").first.locator(".mark").click()
    assert line(shown, "deeper").count() == 0
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"):
        shown.keyboard.press(key)
    assert shown.locator("[aria-selected=true]").text_content().startswith("▸deepest")
    shown.keyboard.press("ArrowLeft")
    shown.keyboard.press("ArrowLeft")
    assert line(shown, "deepest").count() == 0


def test_what_is_chosen_is_told(show: Any) -> None:
    shown = show(page(checkpoint(), "a.t7"))
    about = shown.locator("#about")
    assert about.get_by_text("epoch").count() == 1
    assert about.locator("svg.chart .line").count() == 1 and about.locator("img").count() == 1
    box(shown, "3 -> 8, 5x5").click()
    assert about.get_by_role("heading").first.text_content() == "1nn.SpatialConvolution"
    fields = dict(
        row.split("\t") for row in about.locator("table.fields").all_inner_texts()[0].split("\n")
    )
    assert fields["parameters"] == "608" and fields["output"] == "1×8×24×24"
    assert fields["multiply-adds"] == f"{8 * 24 * 24 * 75:,}"
    assert about.get_by_text("nOutputPlane").count() == 1
    bars = about.locator("svg[aria-label='histogram of weight'] rect")
    assert bars.count() == 40
    image = about.locator("img")
    assert image.evaluate("image => image.complete && image.naturalWidth > 0")
    line(shown, "optimState").click()
    assert about.get_by_text("learningRate").count() == 1


def test_graphs_have_arrows_and_their_own_picture(show: Any) -> None:
    shown = show(page(checkpoint(), "a.t7"))
    shown.get_by_label("the net", exact=True).select_option(label="graph")
    assert box(shown, "Linear").count() == 2
    # Input, two layers, a sum and output: five arrows in the graph, two around it.
    assert shown.locator("#stage .frame .arrow").count() == 6
    sizes = shown.locator("#stage .frame .body").evaluate_all(
        """all => all.map(one => one.getBoundingClientRect())
                     .map(box => [box.left, box.top, box.right, box.bottom])"""
    )
    frame, *boxes = sizes
    for left, top, right, bottom in boxes:
        assert frame[0] < left and frame[1] < top and right < frame[2] and bottom < frame[3]
    overlaps = [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]
    assert not overlaps


def test_search_leads_to_what_is_folded(show: Any) -> None:
    shown = show(page(checkpoint(), "a.t7"))
    fold(shown)
    assert box(shown, "Tanh").count() == 0
    search = shown.get_by_placeholder("search names and classes")
    search.fill("TANH")
    assert shown.locator("#hits").get_by_text("1 found").is_visible()
    search.press("Enter")
    assert box(shown, "Tanh").is_visible() and line(shown, "Tanh").is_visible()
    search.fill("learningrate")
    shown.locator("#hits .found").click()
    assert shown.locator("#about").get_by_text("0.25").is_visible()
    search.fill("nothing of this name")
    assert shown.locator("#hits").get_by_text("0 found").is_visible()
    search.press("Escape")
    assert not shown.locator("#hits").is_visible()


def test_hostile_names_are_text_everywhere(show: Any) -> None:
    x = nn.Identity()()
    graph = nn.gModule([x], [nn.Linear(3, 4)(x).annotate({"name": EVIL})])
    net = nn.Sequential(nn.SpatialConvolution(3, 2, 5, 5))
    vars(net.modules[0])[EVIL] = EVIL
    unknown = {"gradInput": torch.zeros(1), "_type": "torch.FloatTensor", "modules": [nn.Tanh()]}
    value = t7.loads(
        t7.dumps(
            {
                "net": net,
                "graph": graph,
                EVIL: EVIL,
                "table": {EVIL: {EVIL: [1.5, 2, 3]}},
                "object": t7.TorchObject(EVIL, 1, {EVIL: EVIL, "tensor": torch.ones(9)}),
                "unknown": t7.TorchObject(f"my.{EVIL}", 1, {**unknown, EVIL: torch.ones(9)}),
                "log": [{"epoch": i, EVIL: i / 2, "note": EVIL} for i in range(3)],
                "function": t7.LuaFunction(b"code", {1: {"name": EVIL, "value": torch.ones(2)}}),
                "images": {EVIL: torch.rand(3, 16, 16)},
                "__proto__": {"constructor": 1},
            }
        )
    )
    shown = show(page(value, EVIL))
    for _ in range(40):
        folded = shown.locator("[role=treeitem][aria-expanded=false] .mark")
        if not folded.count():
            break
        folded.first.click()
    lines = shown.locator("[role=treeitem]").count()
    assert lines >= 20
    shown.locator("#outline").focus()
    for _ in range(lines):
        shown.keyboard.press("ArrowDown")
        assert shown.locator("#about script, #about img[onerror]").count() == 0
    for net in range(3):
        shown.get_by_label("the net", exact=True).select_option(index=net)
    shown.get_by_placeholder("search names and classes").fill("<script>")
    assert shown.locator("#hits .found").count() > 8
    assert shown.title() == EVIL and shown.locator("script").count() == 2


def test_only_what_is_unfolded_is_there(show: Any) -> None:
    net = nn.Sequential()
    net.modules = [nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(3000)]
    shown = show(page(net, "large.t7"))
    assert shown.locator("*").count() < 1500
    assert shown.locator("#stage .head").count() == 61
    shown.locator("#stage .rest").click()
    assert shown.locator("#stage .head").count() == 121
    search = shown.get_by_placeholder("search names and classes")
    search.fill("tanh")
    assert shown.locator("#hits").get_by_text("3,000 found").is_visible()
    shown.locator("#hits .found").nth(99).click()
    assert line(shown, "Tanh").is_visible() and box(shown, "Tanh").is_visible()


def test_a_deep_net_is_drawn_from_near_what_is_chosen(show: Any) -> None:
    net: Any = nn.Tanh()
    for _ in range(300):
        net = nn.Sequential(net)
    shown = show(page(net, "deep.t7"))
    search = shown.get_by_placeholder("search names and classes")
    search.fill("tanh")
    search.press("Enter")
    assert box(shown, "Tanh").is_visible() and line(shown, "Tanh").is_visible()
    assert shown.locator("#stage .head").count() < 40


def test_a_notebook_frame_works_and_is_apart(show: Any) -> None:
    evil = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    vars(evil.modules[0])[EVIL] = EVIL
    shown = show(f"<!DOCTYPE html><title>notebook</title>{evil._repr_html_()}")
    frame = shown.frame_locator("iframe")
    frame.locator("#stage .head", has_text="Linear").click()
    assert frame.locator("#about").get_by_text("weight", exact=True).is_visible()
    assert shown.title() == "notebook"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 800, 400])
def test_text_stands_out_and_nothing_is_wider_than_the_window(
    show: Any, scheme: str, width: int
) -> None:
    shown = show(page(checkpoint(), "a" * 100))
    shown.set_viewport_size({"width": width, "height": 700})
    shown.emulate_media(color_scheme=scheme)
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    light = shown.evaluate(
        """() => ["color", "backgroundColor"].map(key => {
          const [r, g, b] = getComputedStyle(document.body)[key].match(/\\d+/g).map(Number);
          return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
        })"""
    )
    assert (light[0] < light[1]) == (scheme == "light") and abs(light[0] - light[1]) > 0.6
