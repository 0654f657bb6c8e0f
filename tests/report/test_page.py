"""The page as text: what is in it, that it is safe, small and always the same."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.report import sample

from nvgf.report import page as page_module
from nvgf.report import render_page, write_report
from nvgf.report.content import Content
from nvgf.report.page import MAX_BYTES, script_json

VOID = {"meta", "link", "img", "br", "input"}


class Structure(HTMLParser):
    """Which elements there are, whether they are closed, and which addresses they name."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), f"{tag} has the handler {name}"
            if name in ("src", "href", "action"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name in ("for", "aria-labelledby"):
                self.labels.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def content() -> Content:
    return sample.content(("austen", "poe"), nodes=30, filters=4, maps=8)


@pytest.fixture(scope="module")
def text(content: Content) -> str:
    return render_page(content)


def _between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]


def test_elements_are_nested_and_nothing_outside_is_named(text: str) -> None:
    found = Structure()
    found.feed(text)
    found.close()
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert set(found.labels) <= set(found.ids)
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    script_and_style = _between(text, "<style>", "</style>") + text.rsplit("<script>", 1)[1]
    assert "@import" not in script_and_style
    assert "fetch(" not in script_and_style
    assert re.findall(r"url\(", script_and_style) == []


def test_policy_names_the_digests_of_style_and_script(text: str) -> None:
    policy = _between(text, 'Content-Security-Policy" content="', '"')
    for part in (_between(text, "<style>", "</style>"), text.rsplit("<script>", 1)[1].split("</script>")[0]):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_same_results_give_the_same_page(content: Content, text: str) -> None:
    assert render_page(dataclasses.replace(content)) == text
    assert render_page(sample.content(("austen", "poe"), nodes=30, filters=4, maps=8)) == text


def test_all_authors_stay_below_the_limit() -> None:
    content = sample.content(sample.AUTHORS, nodes=192, filters=32, maps=48)
    size = len(render_page(content).encode())
    assert 1_000_000 < size < MAX_BYTES


def test_filters_are_thinned_out_before_a_page_grows_too_large(
    content: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = render_page(content)
    monkeypatch.setattr(page_module, "MAX_BYTES", len(whole.encode()) - 100)
    thinned = render_page(content)
    assert len(thinned) < len(whole)
    data = json.loads(_between(thinned, 'id="data">', "</script>"))
    entry = data["creation"]["paper"]["austen"]["learn-nvgf"]
    assert entry["every"] == 2
    assert entry["filters"]["rows"] == 2
    monkeypatch.setattr(page_module, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"the report would have .* bytes, more than 1,000: the run holds 2 subjects"):
        render_page(content)


@pytest.mark.parametrize("hostile", ["</script><script>alert(1)</script>", "<!--", "a\u2028b", "&lt;", '"\\'])
def test_json_in_a_script_element_ends_nothing_and_reads_back(hostile: str) -> None:
    encoded = script_json({hostile: [hostile]})
    assert json.loads(encoded) == {hostile: [hostile]}
    assert not set("<>&\u2028\u2029") & set(encoded)


def test_json_refuses_what_a_browser_cannot_read() -> None:
    with pytest.raises(ValueError, match="JSON"):
        script_json([float("nan")])


def test_names_are_escaped_wherever_they_stand() -> None:
    hostile = "<b onclick='x'>"
    plain = sample.content((hostile,), nodes=10, filters=2, maps=4)
    content = dataclasses.replace(
        plain, commands=(f"nvgf {hostile}",), record={hostile: hostile}, titles={hostile: hostile}, selection=hostile
    )
    assert hostile not in render_page(content)
    assert render_page(content).count("&lt;b onclick") > 10


def test_tables_hold_every_number(content: Content, text: str) -> None:
    for score in content.scores:
        assert f"{100 * score.mean:.2f}" in text
    assert text.count('data-table="errors"') == 2
    assert "Hyper-parameters chosen on the validation set." in text
    assert "nvgf authorship run --seed 0" in text
    assert "2.13.0" in text


def test_claims_are_shown_with_verdict_statistic_and_source(text: str) -> None:
    for statement, verdict, statistic, *_ in sample.CLAIMS:
        assert statement.replace("'", "&#x27;") in text
        assert statistic.split(";")[0].replace("<", "&lt;") in text
        assert f"</span> {verdict}</span>" in text
    assert "claims: " in text


def test_an_unknown_verdict_is_refused(content: Content) -> None:
    odd = dataclasses.replace(content.verdicts[0], verdict="maybe")
    with pytest.raises(ValueError, match="verdict must be one of holds, does not hold, undecided, got 'maybe'"):
        render_page(dataclasses.replace(content, verdicts=(odd,)))


def test_a_run_of_one_split_without_analysis_or_gcnn_has_a_page() -> None:
    full = sample.content(splits=1, nodes=10, filters=2, maps=4)
    bare = dataclasses.replace(full, changes=(), groups={}, curves=(), analyses=(), verdicts=(), best=())
    text = render_page(bare)
    assert "No claim can be tested" in text
    assert 'data-table="changes"' not in text
    assert "nan" not in re.sub(r"<script>.*?</script>", "", text, flags=re.S).casefold().replace("finance", "")


def test_infinite_errors_and_changes_are_told_and_not_drawn(content: Content) -> None:
    score = dataclasses.replace(content.scores[0], mean=float("inf"), values=(float("inf"), 0.1))
    change = dataclasses.replace(content.changes[0], value=float("inf"))
    text = render_page(
        dataclasses.replace(content, scores=(score, *content.scores[1:]), changes=(change, *content.changes[1:]))
    )
    data = json.loads(_between(text, 'id="data">', "</script>"))
    assert score.model not in data["comparison"]["paper"]["austen"]
    assert change.model not in data["change"]["paper"]["austen"]["models"]
    assert "∞" in text


def test_no_results_are_nothing_to_report(content: Content) -> None:
    with pytest.raises(ValueError, match="there is nothing to report: no trained model is stored"):
        dataclasses.replace(content, scores=())


def test_report_is_written_whole(content: Content, tmp_path: Path) -> None:
    path = write_report(content, tmp_path / "report.html")
    assert path.read_text("utf-8") == render_page(content)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError, match=r"report\.html cannot be written: there is no folder .*missing"):
        write_report(content, tmp_path / "missing" / "report.html")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file to write"):
        write_report(content, tmp_path)
