"""The HTML report: taken apart as text, and used in a real Chromium, by mouse, keyboard, phone and printer."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from driftwatch.findings.suppress import Suppressed
from driftwatch.report import html, render
from driftwatch.report.html.markup import Markup, breakable, tag, text, ticked
from driftwatch.report.options import RenderOptions
from driftwatch.scan.sites import Site
from driftwatch.snapshot.model.symbols import Ref
from tests.browser import Browser, find_chromium
from tests.cli_process import make_studio, run
from tests.conftest import ROOT
from tests.hostile_project import NAMES, make_hostile
from tests.report_sample import GUARDED, RAISES, REPORT, SILENT, TIMELINE

SITES = (
    Site("flashinfer-python", SILENT.location, Ref("flashinfer.comm", "create_workspace"), "call", TIMELINE.all),
    Site("flashinfer-python", RAISES.location, Ref("flashinfer.comm", "allreduce_fusion"), "call", TIMELINE.all),
    Site("flashinfer-python", GUARDED.location, Ref("flashinfer.comm", "MoeAlltoAll"), "import", TIMELINE.all),
)
SAMPLE = replace(REPORT, title="engine 1.0", targets=(replace(REPORT.targets[0], sites=SITES),))


class Page(HTMLParser):
    """What is in a page: its elements with their attributes, and the text of scripts and styles."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.words = ""
        self._within = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, name: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attrs)))
        self._within = name

    def handle_endtag(self, name: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within in self.raw:
            self.raw[self._within].append(data)
        else:
            self.words += data


def safe_page(source: str) -> Page:
    """A page after all that must hold of any: nothing runs, loads or leads out but the page's own."""
    page = Page(source)
    names = Counter(name for name, _ in page.elements)
    assert (names["script"], names["style"]) == (1, 1)
    assert not names.keys() & {"img", "link", "iframe", "object", "embed", "form", "base", "svg", "video", "audio"}
    policy = next(a["content"] for n, a in page.elements if a.get("http-equiv") == "Content-Security-Policy") or ""
    for kind in ("script", "style"):
        content = "".join(page.raw[kind])
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    for name, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("style", "src", "srcdoc")], name
        assert (attributes.get("href") or "#").startswith("#")
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    anchors = {(a["href"] or "")[1:] for _, a in page.elements if a.get("href")}
    assert anchors <= set(ids)
    assert "http" not in "".join(page.raw["style"])
    return page


# -- markup --------------------------------------------------------------------------------------------------------


def test_all_that_is_no_markup_is_escaped() -> None:
    evil = '<b onclick="x">&\x1b[31m\u202e'
    shown = r"&lt;b onclick=&quot;x&quot;&gt;&amp;\x1b[31m\u202e"
    assert text(evil) == shown
    assert tag("p", evil, [evil, None, 3], title=evil, hidden=True, class_=None) == (
        f'<p title="{shown}" hidden>{shown}{shown}3</p>'
    )
    assert tag("p", Markup("<b>x</b>")) == "<p><b>x</b></p>"
    assert ticked("`<i>` is `x`") == "<code>&lt;i&gt;</code> is <code>x</code>"
    assert ticked("an odd ` tick") == "an odd ` tick"
    assert breakable("a.b_<c>") == "a.<wbr>b_<wbr>&lt;c&gt;"


@pytest.mark.parametrize(
    "attributes", [{"onclick": "x"}, {"style": "x"}, {"href": "javascript:x"}, {"src": "x"}, {'a" b': "x"}]
)
def test_no_attribute_that_acts(attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"attribute|leads"):
        tag("a", **attributes)


# -- the page as text ----------------------------------------------------------------------------------------------


def test_the_sample() -> None:
    source = render("html", SAMPLE, RenderOptions())
    page = safe_page(source)
    assert source == render("html", SAMPLE, RenderOptions())
    assert "4.1s" not in source
    for words in (
        "engine 1.03 errors, 1 silent · 1 warning · 1 note · 1959 files, 12 analysed · 1 unresolved call",
        "works with1 of 50.6.2degraded with1 of 50.7.0breaks with3 of 5, silent in 2 of them0.6.0 to 0.6.1, 0.7.1",
        "Way out: require flashinfer-python>=0.6.2,<=0.7.0 (degraded with 0.7.0), or fix the 3 errors below",
        "A downgrade breaks with 0.5.0",
    ):
        assert words in page.words
    labels = [a["aria-label"] for name, a in page.elements if a.get("role") == "img"]
    assert labels[0] == "breaks silently: 0.5.0 to 0.6.1; breaks: 0.7.1; works: 0.6.2 to 0.7.0"


def test_a_bar_says_what_the_findings_say() -> None:
    """The runs of each row, read back from the page, are the findings' own releases."""
    page = Page(render("html", SAMPLE, RenderOptions()))
    rows: list[list[tuple[str, int, int]]] = []
    for name, attributes in page.elements:
        kinds = (attributes.get("class") or "").split()
        if name == "span" and "track" in kinds and attributes.get("role") == "img":
            rows.append([])
        elif name == "i" and "data-s" in attributes:
            first = next(int(kind[1:]) for kind in kinds if re.fullmatch(r"c\d+", kind))
            width = next(int(kind[1:]) for kind in kinds if re.fullmatch(r"w\d+", kind))
            rows[-1].append((kinds[0], first, width))
    for row in rows:
        assert [first for _, first, _ in row] == [sum(w for _, _, w in row[:i]) for i in range(len(row))]
        assert sum(width for _, _, width in row) == len(TIMELINE)
    # The symbols, worst first; each is followed by its place.
    assert rows[1] == rows[2] == [("silent", 0, 1), ("silent", 1, 2), ("works", 3, 3)]
    assert [("works", 0, 1), ("breaks", 1, 1), ("works", 2, 3), ("breaks", 5, 1)] in rows
    assert [("degraded", 0, 1), ("works", 1, 4), ("degraded", 5, 1)] in rows


def test_several_code_bases() -> None:
    other = replace(SAMPLE, title="engine <2>", findings=(RAISES,))
    page = safe_page(html.render_many([SAMPLE, other], RenderOptions()))
    assert "2 code bases" in page.words and "engine <2>" in page.words
    bases = [a for n, a in page.elements if n == "details" and "base" in (a.get("class") or "").split()]
    assert [base["data-text"] for base in bases] == ["engine 1.0 breaks with 3", "engine <2> breaks with 2"]


def test_what_a_code_base_asks_for_is_marked() -> None:
    target = replace(SAMPLE.targets[0], declared=TIMELINE.set_of(["0.6.1", "0.7.0", "0.7.1"]))
    asking = replace(SAMPLE, targets=(target,))
    page = safe_page(html.render_many([asking, SAMPLE], RenderOptions()))
    marks = [a["class"] for n, a in page.elements if n == "u" and a["class"] != "badge"]
    assert marks == ["c2 w1", "c4 w2"]
    assert "asks for 0.6.1, 0.7.0 to 0.7.1 · breaks with 3" in page.words


def test_source_loses_only_the_indent_that_all_lines_share() -> None:
    page = Page(render("html", SAMPLE, RenderOptions()))
    shown = page.words[page.words.index("5def create") :][:220]
    assert shown.startswith("5def create(self, group):6    kwargs = {"), shown


def test_what_a_baseline_hides_is_in_the_matrix_without_a_card() -> None:
    hidden = replace(
        SAMPLE, findings=(RAISES,), suppressed=(Suppressed(SILENT, "baseline"), Suppressed(GUARDED, "comment"))
    )
    page = safe_page(render("html", hidden, RenderOptions()))
    assert "create_workspace does not take group in 0.6.0 to 0.6.1 (in the baseline)" in page.words
    assert "has no MoeAlltoAll" not in page.words
    assert len([a for n, a in page.elements if "finding" in (a.get("class") or "").split()]) == 1


def test_nothing_used() -> None:
    unused = replace(SAMPLE, findings=(), targets=(replace(SAMPLE.targets[0], uses=0, sites=()),))
    page = safe_page(render("html", unused, RenderOptions()))
    assert "flashinfer.comm is not used in what could be read." in page.words
    page = safe_page(render("html", replace(unused, diagnostics=()), RenderOptions()))
    assert "flashinfer.comm is not used here." in page.words


def test_a_scan_with_the_life_of_its_symbols(tmp_path: Path) -> None:
    studio = make_studio(tmp_path)
    result = run("scan", "--format", "html", cwd=studio)
    assert result.status == 1, result.err
    page = safe_page(result.out)
    added = [a for n, a in page.elements if n == "ins"]
    assert len(added) == 2, "glaze in 1.1, cone in 2.0"
    assert "(pot, minutes, glaze=None, *, cone=6)" in page.words
    assert "gone in 2.0" in page.words
    again = run("scan", "--format", "html", "--no-cache", ".", cwd=studio, environment={"COLUMNS": "40"})
    assert again.out == result.out


def test_hostile_project_as_text(tmp_path: Path) -> None:
    result = run("scan", "--format", "html", cwd=make_hostile(tmp_path), environment={"PYTHONUTF8": "1"})
    assert result.status == 1, result.err
    assert all(character == "\n" or character.isprintable() for character in result.out)
    page = safe_page(result.out)
    assert "src/<script>alert(1)</script>.py" in page.words
    assert page.words.count(r"\x1b[2J\x1b]0;owned\x07") >= 2


# -- the page in a browser -----------------------------------------------------------------------------------------

CHROMIUM = find_chromium()
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path, nor in DRIFTWATCH_CHROMIUM")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    started = Browser(CHROMIUM)
    yield started
    started.close()


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "report.html"
    path.write_text(render("html", SAMPLE, RenderOptions()), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Browser, report_file: Path) -> Browser:
    browser.look()
    browser.open(report_file)
    return browser


def seen(browser: Browser, selector: str) -> list[str]:
    """The texts of the elements that can be seen."""
    query = json.dumps(selector)
    shown: list[str] = browser.ask(
        f"[...document.querySelectorAll({query})].filter(n => n.offsetParent).map(n => n.textContent.trim())"
    )
    return shown


ROWS, CARDS = "#matrix .symbol > summary code", ".finding > summary .message"


@in_a_browser
def test_it_opens_in_peace_and_loads_nothing(page: Browser, report_file: Path) -> None:
    assert page.complaints == [] and page.dialogs == []
    assert page.loads == [report_file.resolve().as_uri()]
    assert seen(page, ROWS)[0] == "create_workspace"
    assert len(seen(page, CARDS)) == 5
    assert page.ask("document.getElementById('shown').value") == "4 symbols, 5 findings"


@in_a_browser
def test_states_filter(page: Browser) -> None:
    page.click('.state[data-state="5"]')
    assert seen(page, ROWS) == ["create_workspace"]
    assert seen(page, CARDS) == ["create_workspace does not take group in 0.6.0 to 0.6.1"]
    page.click('.state[data-state="3"]')
    assert sorted(seen(page, ROWS)) == ["MoeAlltoAll", "create_workspace"]
    page.click('.state[data-state="5"]')
    assert seen(page, ROWS) == ["MoeAlltoAll"]
    assert page.ask("document.getElementById('shown').value") == "1 of 4 symbols, 1 of 5 findings"


@in_a_browser
def test_search_by_keyboard(page: Browser) -> None:
    page.press("/")
    page.type("moe")
    assert seen(page, ROWS) == ["MoeAlltoAll"]
    assert len(seen(page, CARDS)) == 1
    page.type(" nothing of the kind")
    assert seen(page, ROWS) == [] and seen(page, CARDS) == []
    page.press("Escape")
    assert len(seen(page, ROWS)) == 4 and len(seen(page, CARDS)) == 5


@in_a_browser
def test_one_release(page: Browser) -> None:
    page.click('.rel[data-release="4"]')
    assert page.ask("document.getElementById('release').value") == "0:4"
    assert page.ask("getComputedStyle(document.querySelector('.whole .track'), '::before').opacity") != "0"
    assert seen(page, CARDS) == [], "0.7.0 is fine"
    page.press("ArrowRight")
    assert page.ask("document.querySelector('.rel[aria-pressed=true]').textContent") == "0.7.1"
    assert len(seen(page, CARDS)) == 3
    page.press("e")
    assert seen(page, ROWS) == ["allreduce_fusion"]
    page.press("Escape")
    assert page.ask("document.querySelectorAll('.rel[aria-pressed=true]').length") == 0


@in_a_browser
def test_rows_open_by_keyboard_and_lead_to_their_findings(page: Browser) -> None:
    page.press("j")
    assert page.ask("document.activeElement.textContent").startswith("create_workspace")
    page.press("Enter")
    page.until("document.querySelector('#matrix .symbol').open")
    assert "fusion.py:9" in " ".join(seen(page, "#matrix .site .name"))
    page.click(f'#matrix a[href="#f0-{SILENT.fingerprint}"]')
    page.until(f"location.hash === '#f0-{SILENT.fingerprint}'")
    page.press("?")
    assert page.ask("document.getElementById('help').open") is True
    page.click("#close-help")
    assert page.ask("document.getElementById('help').open") is False
    assert page.complaints == []


@in_a_browser
def test_a_folded_finding_opens_when_it_is_linked_to(browser: Browser, report_file: Path) -> None:
    browser.look()
    browser.open(report_file)
    closed = f"document.getElementById('f0-{GUARDED.fingerprint}').open"
    assert browser.ask(closed) is False
    browser.ask(f"location.hash = 'f0-{GUARDED.fingerprint}'")
    browser.until(closed)


@in_a_browser
def test_the_pointer_tells_the_release(page: Browser) -> None:
    page.hover("#matrix .whole .track", 0.25)
    assert page.ask("document.getElementById('tip').textContent") == "0.6.0  breaks silently"


@in_a_browser
@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1440, 2560])
def test_nothing_is_wider_than_the_window(browser: Browser, report_file: Path, width: int) -> None:
    browser.look(width=width, phone=width < 500)
    browser.open(report_file)
    browser.ask("for (const node of document.querySelectorAll('details')) node.open = true")
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask("Math.min(...[...document.querySelectorAll('.whole .track i')].map(n => n.offsetHeight))") > 0


# -- what can be seen without a browser --------------------------------------------------------------------------------

STYLE = (ROOT / "driftwatch" / "report" / "html" / "page.css").read_text(encoding="utf-8")


CONTRAST = """(() => {
  const light = (c) => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const read = (colours) => { canvas.clearRect(0, 0, 1, 1); for (const c of colours) { canvas.fillStyle = c;
    canvas.fillRect(0, 0, 1, 1); } return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const bad = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !node.offsetParent || node.closest('script, option')) continue;
    const behind = [];
    for (let up = node; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const below = light(read(behind)), above = light(read([...behind, getComputedStyle(node).color]));
    const ratio = (Math.max(below, above) + 0.05) / (Math.min(below, above) + 0.05);
    if (ratio < 4.5) bad.add(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return [...bad];
})()"""


@in_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_everything_can_be_read(browser: Browser, report_file: Path, dark: bool) -> None:
    browser.look(dark=dark)
    browser.open(report_file)
    browser.ask("for (const node of document.querySelectorAll('details')) node.open = true")
    assert browser.ask(CONTRAST) == []
    background = browser.ask("getComputedStyle(document.body).backgroundColor")
    browser.press("t")
    assert browser.ask("getComputedStyle(document.body).backgroundColor") != background


@in_a_browser
def test_without_scripts_all_is_there(browser: Browser, report_file: Path) -> None:
    browser.look()
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(report_file)
        assert len(seen(browser, ROWS)) == 4 and len(seen(browser, CARDS)) == 5
        assert seen(browser, ".controls") == []
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


@in_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_paper_is_white_and_holds_what_is_open(browser: Browser, report_file: Path, dark: bool) -> None:
    browser.look(dark=dark)
    browser.open(report_file)
    browser.press("t")
    browser.press("t")
    folded = browser.paper()
    browser.ask("for (const node of document.querySelectorAll('details')) node.open = true")
    opened = browser.paper()
    assert 1 <= pages(folded) <= pages(opened) <= 4
    browser.send("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert browser.ask("getComputedStyle(document.body).color") == "rgb(27, 33, 41)"
        assert browser.ask(CONTRAST) == []
    finally:
        browser.send("Emulation.setEmulatedMedia", media="")


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@in_a_browser
def test_filters_stand_in_the_address(browser: Browser, report_file: Path) -> None:
    browser.look()
    browser.open(report_file)
    browser.click('.state[data-state="5"]')
    browser.ask("document.getElementById('search').value = 'a b=c&d'")
    browser.ask("document.getElementById('search').dispatchEvent(new Event('input'))")
    browser.press("ArrowRight")
    kept = browser.ask("location.hash")
    assert re.fullmatch(r"#q=a\+b%3Dc%26d&release=0%3A[\d.]+&state=5", kept), kept
    asked = "[document.getElementById('search').value, document.getElementById('release').value]"
    before = browser.ask(asked)
    browser.ask("location.hash = ''; document.getElementById('search').value = ''")
    browser.ask(f"location.hash = {json.dumps(kept)}")
    browser.ask("new Promise((done) => setTimeout(done, 50))")
    assert browser.ask(asked) == before
    assert browser.ask("document.querySelector('.state[data-state=\"5\"]').ariaPressed") == "true"
    browser.press("Escape")
    assert browser.ask("location.hash") == ""


@in_a_browser
def test_a_place_is_copied(browser: Browser, report_file: Path) -> None:
    browser.look()
    browser.open(report_file)
    browser.ask("window.copied = []; Object.defineProperty(navigator, 'clipboard', {value: "
                "{writeText: (text) => { copied.push(text); return Promise.resolve(); }}})")  # fmt: skip
    opened = browser.ask("document.querySelector('.finding').open")
    browser.click(".finding .meta .place")
    assert browser.ask("copied") == [browser.ask("document.querySelector('.finding .meta .place').textContent")]
    assert browser.ask("document.querySelector('.finding').open") == opened


@in_a_browser
def test_hostile_project_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    studio = make_hostile(tmp_path)
    assert run("scan", "--format", "html=report.html", cwd=studio).status == 1
    browser.look()
    browser.open(studio / "report.html")
    for selector in (".state[data-state='5']", ".finding > summary", "#matrix .symbol > summary"):
        browser.click(selector)
    assert browser.dialogs == [] and browser.complaints == []
    assert len(browser.loads) == 1
    assert browser.ask("document.scripts.length") == 1
    assert browser.ask("document.images.length") == 0
    assert len(seen(browser, CARDS)) in (len(NAMES), len(NAMES) * 2)


@in_a_browser
def test_an_injected_script_would_not_run(browser: Browser, tmp_path: Path) -> None:
    """The policy itself: were anything ever to slip through, the browser would refuse it."""
    source = render("html", SAMPLE, RenderOptions())
    evil = source.replace("</main>", "<script>alert(1)</script><img src=x onerror=alert(2)></main>")
    assert evil != source
    path = tmp_path / "evil.html"
    path.write_text(evil, encoding="utf-8")
    browser.open(path)
    assert browser.dialogs == []
    assert any("Content Security Policy" in complaint for complaint in browser.complaints)


@in_a_browser
def test_several_code_bases_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    other = replace(SAMPLE, title="engine <2>", findings=(RAISES,))
    path = tmp_path / "many.html"
    path.write_text(html.render_many([SAMPLE, other], RenderOptions()), encoding="utf-8")
    browser.look()
    browser.open(path)
    assert browser.complaints == []
    assert seen(browser, "#matrix .base > summary code") == ["engine 1.0", "engine <2>"]
    browser.click('.state[data-state="5"]')
    assert seen(browser, "#matrix .base > summary code") == ["engine 1.0"]
    browser.click("#matrix .base > summary")
    assert seen(browser, ROWS) == ["create_workspace"]
