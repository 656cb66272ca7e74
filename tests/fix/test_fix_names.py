"""Positional arguments, moved and replaced names, import guards and probes: what is written instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.releases import Timeline
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import Deprecation, Ref, Snapshot, Symbol, SymbolKind
from tests.collecting import signature
from tests.fix.fixing import fixed, reasons, text_of


def shed() -> History:
    """A library in which names move: `saw` to a submodule, `nail` becomes `pin`, and `glue` says what replaces it."""

    def function(name: str, takes: str, **more: object) -> Symbol:
        return Symbol(Ref.parse(name), SymbolKind.FUNCTION, signature(takes), **more)  # type: ignore[arg-type]

    module, tools = Symbol(Ref("shed", ""), SymbolKind.MODULE), Symbol(Ref("shed.tools", ""), SymbolKind.MODULE)
    glue = function("shed:glue", "(wood, seconds=3)")
    old = [module, function("shed:saw", "(wood)"), function("shed:nail", "(wood)"), glue]
    old.append(function("shed:bond", "(wood, seconds=3)"))
    pin = Symbol(Ref("shed", "pin"), SymbolKind.FUNCTION, signature("(wood)"))
    between = [
        *old,
        tools,
        function("shed:saw", "(wood)", definition=Ref("shed.tools", "saw")),
        function("shed.tools:saw", "(wood)"),
        pin,
        replace(function("shed:nail", "(wood)"), definition=Ref("shed", "pin")),
        replace(glue, deprecated=Deprecation("Use `bond` instead.")),
    ]
    new = [module, tools, function("shed.tools:saw", "(wood)"), pin, function("shed:bond", "(wood, seconds=3)")]
    snapshots = [
        Snapshot(release, {symbol.ref: symbol for symbol in symbols})
        for release, symbols in (("1.0", old), ("1.1", between), ("2.0", new))
    ]
    return merge("shed", "shed", snapshots, Timeline(("1.0", "1.1", "2.0")))


@pytest.mark.parametrize(
    ("before", "after", "against"),
    [
        ("from shed import saw\n\nsaw(1)\n", "from shed.tools import saw\n\nsaw(1)\n", ">=1.1"),
        (
            "from shed import saw\n",
            "try:\n    from shed.tools import saw\nexcept ImportError:\n    from shed import saw\n",
            ">=1.0",
        ),
        ("from shed import nail\n\nnail(1)\n", "from shed import pin as nail\n\nnail(1)\n", ">=1.1"),
        (
            "from shed import (\n    bond,\n    nail,  # two\n)\n",
            "from shed import (\n    bond,\n)\nfrom shed import pin as nail\n",
            ">=1.1",
        ),
        ("from shed import bond, saw\n", "from shed import bond\nfrom shed.tools import saw\n", ">=1.1"),
        (
            "from shed import bond, nail, saw\nimport os\n",
            "from shed import bond\nfrom shed import pin as nail\nfrom shed.tools import saw\nimport os\n",
            ">=1.1",
        ),
        (
            "from shed import nail, bond, saw  # all\n\nsaw(1)\n",
            (
                "from shed import bond  # all\n\ntry:\n    from shed import pin as nail\nexcept ImportError:\n"
                "    from shed import nail\ntry:\n    from shed.tools import saw\nexcept ImportError:\n"
                "    from shed import saw\n\nsaw(1)\n"
            ),
            ">=1.0",
        ),
        ("import shed\n\nshed.nail(1)\n", "import shed\n\nshed.pin(1)\n", ">=1.1"),
        ("from shed import glue\n", "from shed import bond as glue\n", "==1.1"),
        ("import shed\n\nshed.glue(1)\n", "import shed\n\nshed.bond(1)\n", "==1.1"),
    ],
    ids=[
        "moved",
        "moved, both",
        "renamed",
        "of several",
        "in one line",
        "several",
        "several, both",
        "attribute",
        "replaced",
        "replaced attribute",
    ],
)
def test_a_name_is_taken_from_where_it_is(tmp_path: Path, before: str, after: str, against: str) -> None:
    result = fixed(tmp_path, before, against=against, library=shed())
    assert text_of(result) == after
    assert not result.after.failed


def library(*releases: dict[str, Symbol | str]) -> History:
    """Releases 1, 2, 3 ... of functions by name, each with what it takes or as a symbol, and of modules."""
    snapshots = []
    for number, symbols in enumerate(releases, 1):
        found = {}
        for name, each in {"lib": "", **symbols}.items():
            ref = Ref.parse(name) if ":" in name else Ref(name, "")
            found[ref] = (
                each
                if isinstance(each, Symbol)
                else Symbol(ref, SymbolKind.FUNCTION, signature(each))
                if ref.qualname
                else Symbol(ref, SymbolKind.MODULE)
            )
        snapshots.append(Snapshot(str(number), found))
    return merge("lib", "lib", snapshots)


JSON, YAML = {"lib.json": "", "lib.json:load": "(file)"}, {"lib.yaml": "", "lib.yaml:load": "(file)"}
LOAD = "from lib.json import load\n\nload(1)\n"


def test_what_only_has_the_same_name_is_something_else(tmp_path: Path) -> None:
    result = fixed(tmp_path, LOAD, library=library({**JSON, **YAML}, YAML))
    assert reasons(result) == ["nothing recorded stands for it in 2: require a release that has it (--pins)"]


def test_what_comes_as_it_goes_has_moved(tmp_path: Path) -> None:
    result = fixed(tmp_path, LOAD, library=library(JSON, YAML), against=">=2")
    assert text_of(result) == LOAD.replace("json", "yaml")
    later = fixed(tmp_path, LOAD, library=library(JSON, {}, YAML), against=">=3")
    assert reasons(later) == ["nothing recorded stands for it in 3: require a release that has it (--pins)"]
    toml = {"lib.toml": "", "lib.toml:load": "(file)"}
    assert not fixed(tmp_path, LOAD, library=library(JSON, {**YAML, **toml}), against=">=2").offer.files


def test_all_that_is_imported_from_a_module_that_is_gone(tmp_path: Path) -> None:
    old = {"lib.json": "", "lib.json:load": "(file)", "lib.json:dump": "(what, file)"}
    new = {name.replace("json", "text"): what for name, what in old.items()}
    source = "from lib.json import dump, load\n\nload(1), dump(1, 2)\n"
    result = fixed(tmp_path, source, library=library(old, new), against=">=2")
    assert text_of(result) == "from lib.text import dump, load\n\nload(1), dump(1, 2)\n"
    assert not result.after.failed


def test_what_the_library_had_from_elsewhere_is_imported_from_there(tmp_path: Path) -> None:
    """As jinja2 3.1 has no `escape`: it was that of markupsafe, from which it still imports it."""
    there = Symbol(Ref("lib", "escape"), SymbolKind.FUNCTION, None, definition=Ref("safe", "escape"))
    inside = replace(there, ref=Ref("lib.runtime", "escape"))
    modules: dict[str, Symbol | str] = {"lib.runtime": "", "lib.runtime:escape": inside, "lib:render": "(text)"}
    source = "from lib import escape, render\n\nrender(escape(1))\n"
    result = fixed(tmp_path, source, library=library({**modules, "lib:escape": there}, modules))
    assert text_of(result) == "from lib import render\nfrom safe import escape\n\nrender(escape(1))\n"
    assert not result.after.failed
    # Where the library does not have it any more, nobody knows whether it is there.
    gone = fixed(tmp_path, source, library=library({**modules, "lib:escape": there}, {"lib:render": "(text)"}))
    assert reasons(gone) == ["nothing recorded stands for it in 2: require a release that has it (--pins)"]


def test_what_upstream_said_before_it_went_counts(tmp_path: Path) -> None:
    """As jinja2 did: `contextfilter` said to use `pass_context`, and went in the next release."""
    mark = Deprecation("'old' is renamed to 'new', the old name will be removed in 3.")
    going = Symbol(Ref("lib", "old"), SymbolKind.FUNCTION, signature("(f)"), deprecated=mark)
    history = library({"lib:old": "(f)"}, {"lib:old": going, "lib:new": "(f)"}, {"lib:new": "(f)"})
    source = "from lib import old\n\nold(1)\n"
    result = fixed(tmp_path, source, library=history)
    assert text_of(result) == (
        "try:\n    from lib import new as old\nexcept ImportError:\n    from lib import old\n\nold(1)\n"
    )
    assert {finding.code for finding in result.offer.repaired} == {"DW201", "DW301"}
    assert not result.after.failed


def test_a_name_that_is_nowhere_is_not_invented(tmp_path: Path) -> None:
    result = fixed(tmp_path, "from kiln import raku\n", against=">=2.0")
    assert reasons(result) == [
        "nothing recorded stands for it in 2.0 to 2.1: require a release that has it (--pins)",
    ]


def test_a_replacement_that_takes_something_else_is_none(tmp_path: Path) -> None:
    result = fixed(tmp_path, "from kiln import raku\n", against="<2")
    assert reasons(result) == ["`fire`, which replaces it, does not take the same"]


def test_positional_arguments_get_names(tmp_path: Path) -> None:
    source = "import kiln\n\n\ndef store(pot, shelf):\n    return kiln.stack(pot, shelf, (3))\n"
    assert text_of(fixed(tmp_path, source)) == source.replace("(3)", "height=(3)")


def test_not_where_a_release_has_no_such_name(tmp_path: Path) -> None:
    result = fixed(tmp_path, "import kiln\n\nkiln.paint(1, 2, 'red')\n")
    assert reasons(result) == ["1.0 to 1.2 takes no `primer` by name"]


def test_nothing_is_invented_for_what_became_required(tmp_path: Path) -> None:
    result = fixed(tmp_path, "import kiln\n\nkiln.mould(1)\n", against="<2")
    assert reasons(result) == ["nobody but you knows what to pass for `size`"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'HAS = "glaze" in inspect.signature(kiln.fire).parameters\n',
            (
                'try:\n    HAS = "glaze" in inspect.signature(kiln.fire).parameters\n'
                "except (TypeError, ValueError):\n    HAS = False\n"
            ),
        ),
        (
            "TAKES = set(inspect.signature(kiln.fire).parameters)\n",
            (
                "try:\n    TAKES = set(inspect.signature(kiln.fire).parameters)\n"
                "except (TypeError, ValueError):\n    TAKES = set()\n"
            ),
        ),
        (
            "try:\n    TAKES = inspect.signature(kiln.fire).parameters\nexcept ValueError:\n    TAKES = {}\n",
            (
                "try:\n    TAKES = inspect.signature(kiln.fire).parameters\n"
                "except (TypeError, ValueError):\n    TAKES = {}\n"
            ),
        ),
        (
            "def has(name):\n    return name in inspect.signature(kiln.fire).parameters\n\n\nhas('glaze')\n",
            (
                "def has(name):\n    try:\n        return name in inspect.signature(kiln.fire).parameters\n"
                "    except (TypeError, ValueError):\n        return False\n\n\nhas('glaze')\n"
            ),
        ),
    ],
    ids=["membership", "set", "half a handler", "return"],
)
def test_a_probe_survives(tmp_path: Path, before: str, after: str) -> None:
    head = "import inspect\n\nimport kiln\n\n"
    assert text_of(fixed(tmp_path, head + before, select=("DW502",))) == head + after


def test_an_answer_that_nobody_knows_is_not_made_up(tmp_path: Path) -> None:
    source = "import inspect\n\nimport kiln\n\nCOUNT = len(inspect.signature(kiln.fire).parameters)\n"
    assert reasons(fixed(tmp_path, source)) == ["what it means when nothing is known cannot be told"]
