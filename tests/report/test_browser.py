"""The page in a real browser: what a reader sees and does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.report import sample

from nvgf.report import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    contents = {
        "one": sample.content(nodes=60, filters=8, maps=16),
        "several": sample.content(sample.AUTHORS, nodes=60, filters=8, maps=16),
        "movies": sample.content(sample.MOVIES, study="movies", views=("ratings",), nodes=40, filters=4, maps=16),
    }
    return {name: write_report(content, folder / f"{name}.html") for name, content in contents.items()}


@contextmanager
def opened(browser: Browser, path: Path, *, width: int = 1280, scheme: str = "light", hash: str = "") -> Iterator[Page]:
    """A page of the browser whose every complaint and every request is a failure of the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri() + hash)
    page.wait_for_selector("#tiles .tile")
    try:
        yield page
        page.wait_for_timeout(50)
        assert complaints == []
        assert [url for url in requests if not url.startswith((path.as_uri(), "data:"))] == []
    finally:
        context.close()


def drawn(page: Page, figure: str) -> str:
    return page.locator(f"{figure} .plot svg").first.evaluate("picture => picture.outerHTML")


def column(page: Page, table: str, at: int) -> list[str]:
    return page.locator(f'[data-table="{table}"]:visible tbody tr').evaluate_all(
        "(rows, at) => rows.map((row) => row.cells[at].dataset.value)", at
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["one", "several", "movies"])
def test_page_draws_every_figure_without_complaint_or_request(
    browser: Browser, pages: dict[str, Path], name: str, scheme: str
) -> None:
    with opened(browser, pages[name], scheme=scheme) as page:
        figures = ["comparison", "change", "spectrum", "responses", "transfer", "curves"]
        for figure in figures + ([] if name == "one" else ["all", "groups"]):
            assert page.locator(f"#fig-{figure} .plot svg").count() >= 1, figure
        assert page.locator("#fig-responses .plot svg").count() == 4
        assert page.locator("#fig-responses .plot").first.locator("path.thin").count() == (4 if name == "movies" else 8)
        assert page.locator("#overview").is_visible() == (name != "one")
        assert "NaN" not in page.locator("main").evaluate("main => main.outerHTML")
        assert "undefined" not in page.locator("main").inner_text()


def test_numbers_on_the_page_are_those_of_the_results(browser: Browser, pages: dict[str, Path]) -> None:
    content = sample.content(sample.AUTHORS, nodes=60, filters=8, maps=16)
    score = next(s for s in content.scores if (s.view, s.subject, s.model) == ("scaled", "poe", "gat"))
    change = next(c for c in content.changes if (c.view, c.subject, c.model) == ("scaled", "poe", "lsigf"))
    with opened(browser, pages["several"], hash="#author=poe&setting=scaled") as page:
        label = page.locator("#fig-comparison svg").get_attribute("aria-label")
        assert label is not None
        assert f"GAT {100 * score.mean:.2f}" in label
        label = page.locator("#fig-change svg").get_attribute("aria-label")
        assert label is not None
        assert f"LSIGF {100 * change.value:+.1f}".replace("-", "−") in label


def test_choosing_an_author_changes_the_figures_of_that_author(browser: Browser, pages: dict[str, Path]) -> None:
    own = ["#fig-comparison", "#fig-change", "#fig-spectrum", "#fig-responses", "#fig-transfer", "#fig-curves"]
    with opened(browser, pages["several"]) as page:
        assert page.locator("#subject").input_value() == "austen"
        before = [drawn(page, figure) for figure in own]
        page.select_option("#subject", "poe")
        after = [drawn(page, figure) for figure in own]
        assert all(a != b for a, b in zip(before, after, strict=True))
        assert "Ms Poe" in page.locator("#accuracy-title").inner_text()
        assert page.locator("tr.chosen").first.get_attribute("data-subject") == "poe"
        page.click("#previous")
        assert page.locator("#subject").input_value() == "page"
        page.select_option("#subject", "austen")
        assert [drawn(page, figure) for figure in own] == before
        page.locator("#fig-all text.row-label", has_text="Twain").click()
        assert page.locator("#subject").input_value() == "twain"
        assert "author=twain" in page.url


def test_choosing_a_setting_changes_figures_tables_and_claims(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as page:
        before, table = drawn(page, "#fig-comparison"), column(page, "details", 2)
        page.click('#views button[data-value="scaled"]')
        assert drawn(page, "#fig-comparison") != before
        assert column(page, "details", 2) != table
        assert page.locator('[data-view="paper"]:visible').count() == 0
        assert page.locator(".claim:visible").count() == len(sample.CLAIMS)


def test_tables_sort_both_ways(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["several"]) as page:
        head = page.locator('[data-table="errors"]:visible th', has_text="Learn NVGF")
        head.locator("button").click()
        values = [float(value) for value in column(page, "errors", 1)]
        assert head.get_attribute("aria-sort") == "ascending"
        assert values == sorted(values)
        assert len(values) == 21
        head.locator("button").click()
        assert [float(value) for value in column(page, "errors", 1)] == sorted(values, reverse=True)
        page.locator('[data-table="errors"]:visible th', has_text="Author").locator("button").click()
        names = column(page, "errors", 0)
        assert names[:2] == ["Abbott", "Alcott"]
        assert head.get_attribute("aria-sort") is None


def test_pointer_and_keys_lead_to_the_same_words(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as page:
        tip = page.locator("#tip")
        assert tip.is_hidden()
        page.locator("#fig-comparison svg polygon.mark").first.hover()
        assert tip.locator("b").inner_text() == "GAT"
        assert "classification error" in tip.inner_text()
        page.locator("#fig-comparison svg").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Escape")
        assert tip.is_hidden()
        page.locator("#fig-transfer .plot svg").first.focus()
        page.keyboard.press("ArrowRight")
        assert re.search(r"in \d+ → out \d+", tip.inner_text())
        assert page.locator("#announce").inner_text() != ""


def test_claims_can_be_narrowed_to_a_verdict(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as page:
        page.locator(".filters button:visible", has_text="does not hold").click()
        assert page.locator(".claim:visible").count() == 1
        assert "LSIGF is considerably worse" in page.locator(".claim:visible").inner_text()


def test_scale_axis_and_theme_are_drawn_anew(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as page:
        seen = {drawn(page, "#fig-spectrum")}
        page.click('#scale button[data-value="log"]')
        seen.add(drawn(page, "#fig-spectrum"))
        page.click('#axis button[data-value="eigenvalue"]')
        seen.add(drawn(page, "#fig-spectrum"))
        assert len(seen) == 3
        response = drawn(page, "#fig-responses")
        page.click('#input button[data-value="first"]')
        assert drawn(page, "#fig-responses") != response
        assert "smallest eigenvalue" in page.locator("#fig-responses figcaption").inner_text()
        light, ground = drawn(page, "#fig-transfer"), "getComputedStyle(document.body).backgroundColor"
        color = page.evaluate(ground)
        page.click("#theme")
        assert drawn(page, "#fig-transfer") != light
        assert page.evaluate(ground) != color


@pytest.mark.parametrize("name", ["one", "several", "movies"])
def test_a_phone_never_scrolls_sideways(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], width=390) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        escaping = page.locator(".plot svg text").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect()).filter((b) => b.x < 0 || b.right > 390).length"
        )
        assert escaping == 0
        small = page.locator("button:visible, select:visible").evaluate_all(
            "all => all.filter((one) => one.getBoundingClientRect().height < 24).length"
        )
        assert small == 0


def test_print_is_light_and_without_controls(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["several"], scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("#next").is_hidden()
        assert page.locator("#fig-all").is_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"


def test_every_control_and_figure_has_a_name_and_colours_have_contrast(
    browser: Browser, pages: dict[str, Path]
) -> None:
    for scheme in ("light", "dark"):
        with opened(browser, pages["several"], scheme=scheme) as page:
            nameless = page.evaluate(
                """() => [...document.querySelectorAll('button, select, svg[role=img]')].filter((one) =>
                !(one.getAttribute('aria-label') || one.textContent.trim() || (one.labels || []).length)).length"""
            )
            assert nameless == 0
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
            assert len(ids) == len(set(ids))
            for selector in (".lede", "figcaption", ".tile .note", ".verdict", "td", "caption", ".panel-note"):
                assert contrast(page, selector) >= 4.5, (scheme, selector)


CONTRAST = """(selector) => {
  const one = [...document.querySelectorAll(selector)].find((found) => found.offsetParent);
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  let ground = one, behind = null;
  while (ground && !behind) {
    const color = channels(getComputedStyle(ground).backgroundColor);
    if (color.length < 4 || color[3] === 1) behind = color;
    ground = ground.parentElement;
  }
  return [channels(getComputedStyle(one).color), behind];
}"""


def contrast(page: Page, selector: str) -> float:
    """The contrast of the Web Content Accessibility Guidelines between an element's text and what lies behind."""

    def luminance(color: list[float]) -> float:
        linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    front, back = sorted(map(luminance, page.evaluate(CONTRAST, selector)), reverse=True)
    return (front + 0.05) / (back + 0.05)


def test_hostile_names_are_shown_and_not_run(browser: Browser, tmp_path: Path) -> None:
    hostile = '</script><img src=x onerror="window.broken=1"><!--'
    content = sample.content((hostile, "austen"), nodes=20, filters=2, maps=8)
    with opened(browser, write_report(content, tmp_path / "hostile.html"), hash="#author=" + "x") as page:
        page.select_option("#subject", hostile)
        assert page.evaluate("window.broken") is None
        assert page.locator("#fig-all text.row-label").first.text_content() is not None
        data: Any = json.loads(page.locator("#data").text_content() or "")
        assert hostile in [subject["id"] for subject in data["subjects"]]
