"""The page of a fleet in a real browser: searched, filtered, ordered and opened, and the address shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driftwatch.fleet.merged import merge
from driftwatch.fleet.page import render
from driftwatch.releases import Timeline
from tests.browser import Browser, find_chromium

TIMELINE = Timeline(tuple(f"1.{number}" for number in range(61)))
ROWS = 200


def row(number: int) -> dict[str, Any]:
    """A code base that breaks up to a release of its own, with one finding that says so."""
    states = "4" * (number % 61) + "1" * (61 - number % 61)
    finding = {
        "code": "DW202", "name": "unknown-keyword", "severity": "error", "outcome": "raises", "path": "app.py",
        "line": 3, "message": f"`fire` does not take </script><b>{number}</b>", "hint": "", "symbol": "kiln.fire",
        "states": states.replace("1", "0"), "excerpt": [[2, ""], [3, "kiln.fire(1, glaze=2)"]],
    }  # fmt: skip
    library = {
        "distribution": "kiln", "states": states, "declared": ["1.5"], "notices": [], "uses": number,
        "findings": [finding] if number % 61 else [], "usage": [["kiln.fire", 1, [["glaze", 1, [["2", 1]]]]]],
    }  # fmt: skip
    return {"name": f"engine {number:03}", "source": f"engine{number}", "libraries": [library]}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fleet") / "fleet.html"
    merged = merge([row(number) for number in range(ROWS)], {"kiln": ("kiln", TIMELINE)})
    place.write_text(render(merged), encoding="utf-8")
    return place


@pytest.fixture
def browser(page: Path) -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("there is no Chromium here")
    found = Browser(program)
    try:
        found.look()
        found.send("Page.navigate", url=page.as_uri())
        found.until("document.readyState === 'complete' && document.getElementById('shown')?.value", 120)
        yield found
        assert found.complaints == []
    finally:
        found.close()


def shown(browser: Browser) -> list[str]:
    rows = "[...document.querySelectorAll('tr[data-row]')].filter((row) => !row.hidden)"
    found: list[str] = browser.ask(f"{rows}.map((row) => row.querySelector('th').textContent)")
    return found


def set_value(browser: Browser, name: str, value: str, event: str) -> None:
    browser.ask(
        f"(() => {{ const node = document.getElementById('{name}'); node.value = '{value}';"
        f"node.dispatchEvent(new Event('{event}')); }})()"
    )


def test_rows_are_searched_filtered_and_ordered(browser: Browser) -> None:
    assert len(shown(browser)) == ROWS
    set_value(browser, "search", "engine 01", "input")
    found = [number for number in range(ROWS) if "01" in f"engine {number:03} engine{number}"]
    assert shown(browser) == [f"engine {number:03}" for number in found]
    set_value(browser, "release", "0:12", "change")
    browser.ask("document.querySelector('.chips [data-state=\"4\"]').click()")
    assert shown(browser) == [f"engine {number:03}" for number in found if number % 61 > 12]
    set_value(browser, "search", "", "input")
    assert len(shown(browser)) == sum(number % 61 > 12 for number in range(ROWS))
    set_value(browser, "sort", "uses", "change")
    assert shown(browser)[0] == max(name for name in shown(browser))
    assert browser.ask("location.hash") == "#release=kiln%3A1.12&states=4&sort=uses"


def test_a_cell_opens_its_findings_and_the_address_leads_there(browser: Browser) -> None:
    browser.ask(
        "(() => { const row = document.querySelectorAll('tr[data-row] .runs')[20], box = row.getBoundingClientRect();"
        "const runs = [...row.querySelectorAll('i')].reduce((sum, run) => sum + run.getBoundingClientRect().width, 0);"
        "row.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + runs / 61 * 7.5})); })()"
    )
    assert browser.ask("document.querySelector('#panel h2').textContent") == "engine 020 with kiln 1.7"
    # What the code was called is text, wherever it stands.
    assert "</script><b>20</b>" in browser.ask("document.getElementById('panel').textContent")
    assert "kiln.fire(1, glaze=2)" in browser.ask("document.querySelector('#panel pre').textContent")
    there = browser.ask("location.hash")
    browser.press("Escape")
    assert browser.ask("document.getElementById('panel').hidden") is True
    browser.ask(f"location.hash = {there!r}")
    browser.until("!document.getElementById('panel').hidden")
    assert browser.ask("document.querySelector('#panel h2').textContent") == "engine 020 with kiln 1.7"
