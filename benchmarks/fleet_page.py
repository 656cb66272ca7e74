"""What a filter of the fleet's page costs the browser, with 200 code bases and 61 releases.

    python benchmarks/fleet_page.py

Printed for each text that is searched for: milliseconds of the page's main thread, by the thread's own clock, so that a
busy machine changes little: the script alone, and all that it has the browser do, layout and style included.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEARCHED = ("e", "en", "engine 0", "engine 01", "engine 012", "kiln", "nothing", "", "engine 1", "")
FILTER = """(() => {
  const box = document.getElementById('search');
  box.value = %r;
  box.dispatchEvent(new Event('input'));
  void document.querySelector('table.fleet').offsetHeight;
})()"""


def main() -> None:
    """Open the page of the tests, and search."""
    sys.path.insert(0, str(ROOT))
    from driftwatch.fleet.merged import merge  # noqa: PLC0415
    from driftwatch.fleet.page import render  # noqa: PLC0415
    from tests.browser import Browser, find_chromium  # noqa: PLC0415
    from tests.test_fleet_page import ROWS, TIMELINE, row  # noqa: PLC0415

    program = find_chromium()
    if program is None:
        sys.exit("there is no Chromium here")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "fleet.html"
        place.write_text(render(merge([row(n) for n in range(ROWS)], {"kiln": ("kiln", TIMELINE)})), encoding="utf-8")
        browser = Browser(program)
        try:
            browser.look()
            browser.send("Page.navigate", url=place.as_uri())
            browser.until("document.readyState === 'complete' && document.getElementById('shown')?.value", 300)
            browser.send("Performance.enable", timeDomain="threadTicks")
            for text in SEARCHED:
                before = _spent(browser.send("Performance.getMetrics"))
                browser.ask(FILTER % text)
                after = _spent(browser.send("Performance.getMetrics"))
                script, everything = (1000 * (after[key] - before[key]) for key in ("ScriptDuration", "TaskDuration"))
                print(f"{text!r:<14} script {script:5.1f} ms, all {everything:5.1f} ms")
        finally:
            browser.close()


def _spent(answer: dict[str, list[dict[str, float]]]) -> dict[str, float]:
    return {str(metric["name"]): metric["value"] for metric in answer["metrics"]}


if __name__ == "__main__":
    main()
