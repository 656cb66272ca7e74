"""What has one cause is told as one, and in words that say what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.findings.finding import Severity
from driftwatch.flow.uses import Catch, Outcome, ProbeUse
from driftwatch.releases import EMPTY
from driftwatch.report.options import RenderOptions
from driftwatch.report.styled import Look
from driftwatch.report.text import render
from driftwatch.rules import deprecated, narrow_import_guard, unknown_keyword, unsafe_signature_probe
from driftwatch.rules.rule import Context
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from driftwatch.snapshot.model.history import Epoch, History
from driftwatch.snapshot.model.symbols import Deprecation, Ref
from tests.kiln import knowledge
from tests.made_uses import ALL, HERE, KILN, at, call, imported, name, passed, releases


def marked(mark: Deprecation, *symbols: str) -> History:
    """The example library with a mark on some symbols in all releases that have them."""
    epochs = dict(KILN.epochs)
    for symbol in symbols:
        ref = Ref.parse(symbol)
        epochs[ref] = tuple(Epoch(replace(e.symbol, deprecated=mark), e.releases) for e in KILN.of(ref))
    return replace(KILN, epochs=epochs)


def said(history: History, *uses: object) -> list[tuple[str, str, str]]:
    context = Context(history, ALL)
    found = [v for use in uses for v in deprecated.RULE.check(use, context)]  # type: ignore[arg-type]
    return [(v.symbol, v.message, v.hint) for v in found]


SHELF = Deprecation("Shelf is deprecated; use Rack.", None)


def test_a_mark_on_a_class_is_told_of_the_class_wherever_it_is_used() -> None:
    history = marked(SHELF, "kiln:Shelf", "kiln:Shelf.add")
    told = ("kiln.Shelf", "`Shelf` is deprecated in {releases}: use Rack.", "use what upstream names before it is gone")
    uses = imported("kiln", "Shelf"), name("kiln:Shelf", "add"), name("kiln:Shelf", "add", instance=True)
    assert said(history, *uses) == [told] * 3


def test_a_mark_on_a_method_is_told_of_the_method() -> None:
    ((symbol, message, hint),) = said(marked(Deprecation("put it", "3.0"), "kiln:Shelf.add"), name("kiln:Shelf", "add"))
    assert (symbol, message) == ("kiln.Shelf.add", "`Shelf.add` is deprecated in {releases}: put it")
    assert hint == "upstream means to remove it in 3.0"


@pytest.mark.parametrize(
    ("message", "gist"),
    [
        ("fire is deprecated", ""),
        ("`fire()` is deprecated, use wash.", ": use wash."),
        ("'fire' was deprecated: no", ": no"),
        ("misfire is deprecated", ": misfire is deprecated"),
        (None, ""),
    ],
)
def test_what_a_mark_says_beyond_that_it_is_one(message: str | None, gist: str) -> None:
    ((_, told, _),) = said(marked(Deprecation(message, None), "kiln:raku", "kiln:cool"), imported("kiln", "cool"))[:1]
    assert told.startswith("`cool` is deprecated in {releases}")
    ((_, told, hint),) = said(
        marked(Deprecation(message and message.replace("fire", "raku"), None), "kiln:raku"), imported("kiln", "raku")
    )
    assert told == f"`raku` is deprecated in {{releases}}{gist.replace('fire', 'raku')}"
    assert hint == "it is gone since 2.0"


def test_a_name_whose_module_is_gone_is_gone() -> None:
    gone = {ref: epochs for ref, epochs in KILN.epochs.items() if ref.module != "kiln.wheel"}
    for ref in (Ref("kiln.wheel", ""), Ref("kiln.wheel", "throw")):
        gone[ref] = (Epoch(replace(KILN.of(ref)[0].symbol, deprecated=Deprecation(None, None)), releases("==1.2")),)
    assert [hint for _, _, hint in said(replace(KILN, epochs=gone), imported("kiln.wheel", "throw"))] == [
        "it is gone since 2.0"
    ]


def test_imports_that_run_the_same_module_say_the_same() -> None:
    context = Context(KILN, ALL, knowledge())
    first = replace(imported("kiln", None, catch=Catch(Outcome.GUARDED, "a.py", 7, ("ImportError",))), survives=())
    second = replace(first, module="kiln.wheel", location=at(20), catch=replace(first.catch, line=22))
    one, two = (v for use in (first, second) for v in narrow_import_guard.RULE.check(use, context))
    assert (one.message, one.symbol) == (two.message, two.symbol)
    assert one.symbol == "kiln"
    assert one.location != two.location


def test_probes_say_the_same_of_every_callable_and_keep_its_name() -> None:
    context = Context(KILN, ALL)
    uses = [ProbeUse("kiln", HERE, ALL, Catch(Outcome.RAISES), (), Ref("kiln", each)) for each in ("fire", "cool")]
    one, two = (v for use in uses for v in unsafe_signature_probe.RULE.check(use, context))
    assert one.message == two.message
    assert (one.symbol, two.symbol) == ("kiln.fire", "kiln.cool")


def test_a_keyword_of_no_release_under_a_condition_says_why_it_is_no_error() -> None:
    use = call("kiln:fire", None, None, keywords=(passed("smoke", certain=False),))
    (verdict,) = unknown_keyword.RULE.check(use, Context(KILN, ALL))
    assert verdict.severity is Severity.WARNING
    assert verdict.hint == (
        "no known release takes `smoke`; it is passed under a condition that must hold with none of them"
    )


SMOKE = """\
import inspect

import kiln


def bake(pot, smoky):
    options = {}
    if smoky:
        options["smoke"] = True
    return kiln.fire(pot, 30, **options)


FIRE = "glaze" in inspect.signature(kiln.fire).parameters
COOL = "slow" in inspect.signature(kiln.cool).parameters
"""


def test_a_warning_breaks_no_release_in_the_range_or_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SMOKE)
    result: Report = scan(ScanRequest((tmp_path,), (Watched(KILN),), against=(">=2",)))
    assert [(f.code, f.severity.value) for f in result.findings] == [
        ("DW101", "warning"),
        ("DW502", "note"),
        ("DW502", "note"),
    ]
    report = result
    assert report.beyond("kiln") == EMPTY
    shown = render(report, RenderOptions(Look(), False))
    assert shown.count(" DW502 ") == 1
    assert "downgrade" not in shown
