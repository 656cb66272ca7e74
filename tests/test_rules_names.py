"""The rules about names, on uses made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from driftwatch.binding.classes import look_up
from driftwatch.flow.uses import UNCAUGHT, Outcome, PatchUse, Use
from driftwatch.rules import deprecated, missing_member, missing_module, missing_name
from driftwatch.rules.rule import Context, Rule
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import Ref
from tests.collecting import collected
from tests.made_uses import ALL, GUARDED, HERE, findings, imported, name, releases, said

DW201, DW202, DW203 = missing_name.RULE, missing_module.RULE, missing_member.RULE
DW301 = deprecated.RULE


def test_an_import_of_a_name_that_is_gone() -> None:
    (finding,) = findings(DW201, imported("kiln", "raku"))
    assert finding.releases == releases(">=2")
    assert finding.message == "`kiln` has no `raku` in 2.0 to 2.1"
    assert finding.hint == "needs kiln<2.0; or look for it first, with `hasattr` or `except ImportError`"
    assert finding.symbol == "kiln.raku"


def test_a_guarded_import_is_a_note() -> None:
    (finding,) = findings(DW201, imported("kiln", "raku", catch=GUARDED))
    assert (finding.severity.value, finding.outcome) == ("note", Outcome.GUARDED)
    assert finding.releases == releases(">=2")
    assert finding.caught_at == ("app.py", 12)


def test_an_attribute_of_a_module() -> None:
    assert said(DW201, name("kiln", "raku")) == [("error", "2.0 to 2.1", None)]
    assert said(DW201, name("kiln", "raku", where="<2")) == []


def test_names_no_release_ever_had() -> None:
    (finding,) = findings(DW201, imported("kiln", "fier"))
    assert finding.releases == ALL
    assert finding.hint == "no known release has it; did you mean `fire`?"


@pytest.mark.parametrize(("module", "attribute"), [("kiln", "_private"), ("kiln._inner", "x"), ("kiln", "__version__")])
def test_what_a_snapshot_does_not_hold_is_not_missing(module: str, attribute: str) -> None:
    assert said(DW201, imported(module, attribute)) == []
    assert said(DW202, imported(module, attribute)) == []


@pytest.mark.parametrize("module", ["pottery", "kilns", "kil"])
def test_other_libraries_are_not_this_targets_matter(module: str) -> None:
    assert said(DW201, imported(module, "raku")) == []
    assert said(DW202, imported(module, None)) == []


def test_a_module_that_is_newer() -> None:
    for use in (imported("kiln.wheel", None), imported("kiln.wheel", "throw"), imported("kiln", "wheel")):
        (finding,) = findings(DW202, use)
        assert finding.releases == releases("<1.2")
        assert finding.symbol == "kiln.wheel"
        assert finding.message == "there is no module `kiln.wheel` in 1.0 to 1.1"
        assert said(DW201, use) == []


def test_a_name_of_a_module_is_missing_only_where_the_module_is_there() -> None:
    use = imported("kiln.wheel", "nothing")
    assert said(DW201, use) == [("error", "1.2 to 2.1", None)]
    assert said(DW202, use) == [("error", "1.0 to 1.1", None)]


def test_a_star_import_asks_for_the_module_only() -> None:
    assert said(DW201, imported("kiln.wheel", "*")) == []
    assert said(DW202, imported("kiln.wheel", "*")) == [("error", "1.0 to 1.1", None)]


def test_a_member_is_missing_where_no_subclass_has_it() -> None:
    (finding,) = findings(DW203, name("kiln:Shelf", "wax", instance=True))
    assert finding.releases == releases("<1.2")
    assert finding.message == "`Shelf` and its subclasses have no `wax` in 1.0 to 1.1"
    assert finding.symbol == "kiln.Shelf.wax"


def test_a_member_of_the_class_itself_or_of_an_exact_instance() -> None:
    assert said(DW203, name("kiln:Shelf", "wax")) == [("error", "1.0 to 2.1", None)]
    exact = replace(name("kiln:Shelf", "wax", instance=True), exact=True)
    assert said(DW203, exact) == [("error", "1.0 to 2.1", None)]
    assert said(DW203, name("kiln:WoodShelf", "add", instance=True)) == []


def test_enum_members_and_what_enums_bring() -> None:
    assert said(DW203, name("kiln:Glaze", "COBALT")) == [("error", "1.0", None)]
    for brought in ("__members__", "mro", "from_bytes"):
        assert said(DW203, name("kiln:Glaze", brought)) == []
    for brought in ("name", "value", "bit_length", "__class__"):
        assert said(DW203, name("kiln:Glaze", brought, instance=True)) == []


def test_an_inherited_abstract_base_brings_nothing_a_caller_would_look_for() -> None:
    never = name("kiln:Burner", "extinguish", instance=True)
    assert said(DW203, never) == [("warning", "1.0 to 2.1", None)]
    assert said(DW203, replace(never, exact=True)) == [("error", "1.0 to 2.1", None)]
    assert said(DW203, name("kiln:Burner", "register")) == []


def test_a_patch_of_a_name_that_only_some_releases_have() -> None:
    patch = PatchUse("kiln", HERE, ALL, GUARDED, (), Ref("kiln", ""), "raku")
    assert said(DW201, patch) == [("warning", "2.0 to 2.1", None)]
    assert said(DW201, replace(patch, releases=releases(">=2"))) == []
    assert said(DW201, replace(patch, name="never")) == []


def test_a_patch_that_requires_its_name() -> None:
    patch = PatchUse("kiln", HERE, ALL, UNCAUGHT, (), Ref("kiln", ""), "raku", requires=True)
    assert said(DW201, patch) == [("error", "2.0 to 2.1", None)]
    assert said(DW201, replace(patch, catch=GUARDED)) == [("note", "2.0 to 2.1", None)]
    assert said(DW201, replace(patch, releases=releases(">=2"))) == [("error", "2.0 to 2.1", None)]
    assert said(DW201, replace(patch, name="never")) == [("error", "1.0 to 2.1", None)]


def test_what_only_instances_have_is_not_there_on_the_class(tmp_path: Path) -> None:
    text = """
    class Pot:
        glaze = None

        def __init__(self):
            self.glaze, self.mass = "blue", 1
    """
    taken = merge("pkg", "pkg", [collected(tmp_path, __init__=dedent(text))])

    def there(attribute: str, *, instance: bool) -> bool:
        return bool(look_up(taken, Ref("pkg", "Pot"), attribute, taken.timeline.all, instance=instance).present)

    assert there("mass", instance=True)
    assert not there("mass", instance=False)
    assert there("glaze", instance=True) and there("glaze", instance=False)


# -- libraries of their own --------------------------------------------------------------------------------------------


def library(folder: Path, **releases: dict[str, str]) -> History:
    """The history of a library `pkg`; the name of a release without its underscore, its files by module."""
    snapshots = [
        replace(collected(folder / number, **files), release=number.strip("_")) for number, files in releases.items()
    ]
    return merge("kiln", "pkg", snapshots)


def told(rule: Rule, history: History, use: Use) -> list[tuple[str, str]]:
    """What is told of a use, in which releases, and how to help."""
    everywhere = replace(use, releases=history.timeline.all)
    found = rule.check(everywhere, Context(history, history.timeline.all))
    return [(history.timeline.describe(verdict.releases), verdict.hint) for verdict in found]


def test_what_a_base_has_on_the_class_in_another_release_is_not_there_in_this_one(tmp_path: Path) -> None:
    text = """
    class Clay:
        {on_class}

    class Pot(Clay):
        def __init__(self):
            self.mass = 1
    """
    files = {
        release: {"__init__": dedent(text.format(on_class=line))}
        for release, line in {"_1": "mass = None", "_2": "pass", "_3": "mass = None"}.items()
    }
    taken = library(tmp_path, **files)
    found = look_up(taken, Ref("pkg", "Pot"), "mass", taken.timeline.all, instance=False)
    assert taken.timeline.describe(found.present) == "1, 3"


def test_a_module_that_makes_names_of_its_own_may_have_any(tmp_path: Path) -> None:
    open_ = "def __getattr__(name):\n    return look(name)\n"
    made = library(tmp_path, _1={"__init__": "def fire(): ...\n"}, _2={"__init__": open_}, _3={"__init__": ""})
    for use in (imported("pkg", "fire"), name("pkg", "fire")):
        assert [releases for releases, _ in told(DW201, made, use)] == ["3"]


def test_a_submodule_is_missing_once_where_its_package_is_missing_too(tmp_path: Path) -> None:
    deep = {"__init__": "", "wheel/__init__": "", "wheel/disc": "def turn(): ...\n"}
    made = library(tmp_path, _1={"__init__": ""}, _2={"__init__": "", "wheel/__init__": ""}, _3=deep)
    assert [releases for releases, _ in told(DW202, made, imported("pkg.wheel", None))] == ["1"]
    assert [releases for releases, _ in told(DW202, made, name("pkg.wheel", "disc"))] == ["2"]


def test_what_an_open_module_may_still_have_is_not_said_to_be_gone(tmp_path: Path) -> None:
    marked = "from warnings import deprecated\n\n@deprecated('use fire')\ndef raku(): ...\n"
    open_ = "def __getattr__(name):\n    return look(name)\n"
    for after, hint in ((open_, "use what upstream names before it is gone"), ("", "it is gone since 2")):
        folder = tmp_path / str(len(after))
        made = library(folder, _1={"__init__": marked}, _2={"__init__": after})
        assert told(DW301, made, imported("pkg", "raku")) == [("1", hint)]
