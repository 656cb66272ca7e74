"""DW101: what is written instead of a keyword that some release does not take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from driftwatch.findings.finding import Severity
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import Ref, Signature, Snapshot, Symbol, SymbolKind
from tests.collecting import signature
from tests.fix.fixing import fixed, reasons, text_of

HELPER = '''\
def _takes(function, parameter):
    """Whether the installed function takes a parameter; False if it cannot be told."""
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
'''
TOP = f"""\
import inspect

import kiln


{HELPER}

_FIRE_TAKES_GLAZE = _takes(kiln.fire, "glaze")


"""
LOST = "# Releases without `glaze`: leaving it out could change the result.\n"


def test_a_keyword_of_a_call_is_passed_where_the_build_takes_it(tmp_path: Path) -> None:
    result = fixed(
        tmp_path,
        """\
        import kiln


        def bake(pot):
            return kiln.fire(pot, minutes=30, glaze="blue")
        """,
        unsafe=True,
    )
    assert text_of(result) == TOP + (
        "def bake(pot):\n"
        "    kwargs = {}\n"
        f"    {LOST}"
        "    if _FIRE_TAKES_GLAZE:\n"
        '        kwargs["glaze"] = "blue"\n'
        "    return kiln.fire(pot, minutes=30, **kwargs)\n"
    )
    assert not result.after.failed


def test_it_is_not_offered_unasked_where_something_may_be_lost(tmp_path: Path) -> None:
    source = "import kiln\n\n\ndef bake(pot):\n    return kiln.fire(pot, 30, glaze='blue')\n"
    result = fixed(tmp_path, source)
    assert not result.offer.files
    assert reasons(result) == ["with --unsafe: leaving it out could change the result"]


def test_the_default_of_every_release_is_left_out(tmp_path: Path) -> None:
    source = "import kiln\n\n\ndef bake(pot):\n    return kiln.fire(pot, minutes=30, glaze=None)\n"
    assert text_of(fixed(tmp_path, source)) == source.replace(", glaze=None", "")


def test_a_flag_that_the_module_has_is_used(tmp_path: Path) -> None:
    head = """\
import inspect

import kiln

try:
    HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters
except (TypeError, ValueError):
    HAS_GLAZE = False


def bake(pot):
"""
    result = fixed(tmp_path, head + '    return kiln.fire(pot, 30, glaze="blue")\n', unsafe=True)
    assert text_of(result) == head + (
        "    kwargs = {}\n"
        f"    {LOST}"
        "    if HAS_GLAZE:\n"
        '        kwargs["glaze"] = "blue"\n'
        "    return kiln.fire(pot, 30, **kwargs)\n"
    )


def test_a_flag_of_another_function_is_not(tmp_path: Path) -> None:
    source = """\
        import kiln

        HAS_GLAZE = "glaze" in dir(kiln.Shelf)


        def bake(pot):
            return kiln.fire(pot, 30, glaze="blue")
        """
    text = text_of(fixed(tmp_path, source, unsafe=True))
    assert "if _FIRE_TAKES_GLAZE:" in text


def test_a_flag_that_answers_wrongly_does_not_stand_the_proof(tmp_path: Path) -> None:
    source = """\
        import inspect

        import kiln

        HAS_GLAZE = "glaze" not in inspect.signature(kiln.fire).parameters


        def bake(pot):
            return kiln.fire(pot, 30, glaze="blue")
        """
    result = fixed(tmp_path, source, unsafe=True, select=("DW101",))
    assert "if _FIRE_TAKES_GLAZE:" in text_of(result)
    assert not result.after.failed
    # Nor does it keep back what is fixed beside it.
    both = fixed(tmp_path, source, unsafe=True)
    assert [finding.code for finding in both.offer.repaired] == ["DW502", "DW101"]
    assert not fixed(tmp_path, text_of(both), unsafe=True).offer.files


@pytest.mark.parametrize(
    ("body", "repaired"),
    [
        (
            """\
            options = {"minutes": 30}
            options["glaze"] = glaze
            return kiln.fire(pot, **options)
            """,
            f"""\
            options = {{"minutes": 30}}
            {LOST.strip()}
            if _FIRE_TAKES_GLAZE:
                options["glaze"] = glaze
            return kiln.fire(pot, **options)
            """,
        ),
        (
            """\
            options = {"minutes": 30}
            if glaze is not None:
                options["glaze"] = glaze
            return kiln.fire(pot, **options)
            """,
            f"""\
            options = {{"minutes": 30}}
            {LOST.strip()}
            if glaze is not None and _FIRE_TAKES_GLAZE:
                options["glaze"] = glaze
            return kiln.fire(pot, **options)
            """,
        ),
        (
            """\
            options = dict(
                minutes=30,
                # it looks better
                glaze=glaze,
            )
            return kiln.fire(pot, **options)
            """,
            f"""\
            options = dict(
                minutes=30,
            )
            {LOST.strip()}
            if _FIRE_TAKES_GLAZE:
                # it looks better
                options["glaze"] = glaze
            return kiln.fire(pot, **options)
            """,
        ),
        (
            """\
            options = {"minutes": 30}
            options.update(glaze=glaze)
            return kiln.fire(pot, **options)
            """,
            f"""\
            options = {{"minutes": 30}}
            {LOST.strip()}
            if _FIRE_TAKES_GLAZE:
                options.update(glaze=glaze)
            return kiln.fire(pot, **options)
            """,
        ),
        (
            """\
            return kiln.fire(  # hot
                pot,
                glaze=glaze,  # shiny
                minutes=30,
            )
            """,
            f"""\
            kwargs = {{}}
            {LOST.strip()}
            if _FIRE_TAKES_GLAZE:
                kwargs["glaze"] = glaze
            return kiln.fire(  # hot
                pot,
                minutes=30,
                **kwargs,
            )
            """,
        ),
        (
            "return [kiln.fire(each, 30, glaze=choose(each)) for each in pot]",
            "return [kiln.fire(each, 30, **({'glaze': choose(each)} if _FIRE_TAKES_GLAZE else {})) for each in pot]",
        ),
        (
            "return (choose(pot), kiln.fire(pot, 30, glaze=glaze))",
            "return (choose(pot), kiln.fire(pot, 30, **({'glaze': glaze} if _FIRE_TAKES_GLAZE else {})))",
        ),
    ],
    ids=["subscript", "condition", "dict call", "update", "call in lines", "comprehension", "after another call"],
)
def test_where_it_is_written(tmp_path: Path, body: str, repaired: str) -> None:
    def whole(text: str, top: str) -> str:
        lines = dedent(text).splitlines()
        return f"{top}def bake(pot, glaze):\n" + "".join(f"    {line}\n" for line in lines)

    result = fixed(tmp_path, whole(body, "import kiln\n\n\n"), unsafe=True)
    assert text_of(result) == whole(repaired.replace("'glaze'", '"glaze"'), TOP)
    assert not [finding for finding in result.after.findings if finding.severity is Severity.ERROR]


def test_what_is_imported_in_a_function_is_asked_for_there(tmp_path: Path) -> None:
    source = """\
        import os


        def bake(pot):
            import kiln

            return kiln.fire(pot, minutes=30, glaze="blue")
        """
    text = text_of(fixed(tmp_path, source, unsafe=True))
    assert text.startswith(f"import functools\nimport inspect\nimport os\n\n\n@functools.cache\n{HELPER}\n\ndef bake")
    assert '    if _takes(kiln.fire, "glaze"):\n' in text


def test_a_module_that_may_be_none_is_asked_where_it_is_used(tmp_path: Path) -> None:
    source = """\
        try:
            import kiln
        except Exception:
            kiln = None


        def bake(pot):
            if kiln is None:
                return None
            return kiln.fire(pot, minutes=30, glaze="blue")
        """
    text = text_of(fixed(tmp_path, source, unsafe=True))
    assert '    if _takes(kiln.fire, "glaze"):\n' in text


def test_the_caller_of_a_function_that_passes_keywords_on(tmp_path: Path) -> None:
    source = """\
        import kiln


        def fire(pot, **kwargs):
            return kiln.fire(pot, 30, **kwargs)


        def bake(pot):
            return fire(pot, glaze="blue")
        """
    text = text_of(fixed(tmp_path, source, unsafe=True))
    assert "def fire(pot, **kwargs):\n    return kiln.fire(pot, 30, **kwargs)\n" in text
    assert '    if _FIRE_TAKES_GLAZE:\n        kwargs["glaze"] = "blue"\n    return fire(pot, **kwargs)\n' in text


def test_a_partial(tmp_path: Path) -> None:
    source = """\
        import functools

        import kiln

        bake = functools.partial(kiln.fire, minutes=30, glaze="blue")
        """
    text = text_of(fixed(tmp_path, source + "\n        bake(1)\n", unsafe=True))
    assert "bake = functools.partial(kiln.fire, minutes=30, **_kwargs)\n" in text


def test_a_renamed_keyword_gets_its_new_name(tmp_path: Path) -> None:
    source = "import kiln\n\n\ndef clean(pot):\n    return kiln.wash(pot, degrees=40)\n"
    assert reasons(fixed(tmp_path, source, against=">=2.0", select=("DW101",))) == [
        "with --unsafe: no release says that `temperature` is what `degrees` was"
    ]
    result = fixed(tmp_path, source, against=">=2.0", unsafe=True)
    assert text_of(result) == source.replace("degrees", "temperature")
    assert {finding.code for finding in result.offer.repaired} == {"DW101", "DW102"}
    assert not result.offer.refusals


def test_or_either_where_the_range_needs_both(tmp_path: Path) -> None:
    source = "import kiln\n\n\ndef clean(pot):\n    return kiln.wash(pot, degrees=40)\n"
    result = fixed(tmp_path, source, unsafe=True)
    assert text_of(result).endswith(
        "    return kiln.wash(\n"
        '        pot, **({"temperature": 40} if _WASH_TAKES_TEMPERATURE else {"degrees": 40})\n'
        "    )\n"
    )
    assert not result.after.findings


def runner(now: str) -> History:
    """A library of one function, in two releases: the second has another parameter at the place of `mix_stderr`."""
    texts = {"8.1": "(env=None, mix_stderr=True)", "8.2": f"(env=None, {now})"}
    return merge("shell", "shell", [of_one_function(release, signature(text)) for release, text in texts.items()])


def of_one_function(release: str, takes: Signature) -> Snapshot:
    symbols = [Symbol(Ref("shell", ""), SymbolKind.MODULE), Symbol(Ref("shell", "run"), SymbolKind.FUNCTION, takes)]
    return Snapshot(release, {symbol.ref: symbol for symbol in symbols})


RUN = "import shell\n\n\ndef go():\n    return shell.run(mix_stderr=False)\n"


def test_a_parameter_that_only_took_the_place_is_another_one(tmp_path: Path) -> None:
    """click 8.2 has `catch_exceptions=True` where `mix_stderr=True` was."""
    result = fixed(tmp_path, RUN, library=runner("catch_exceptions=True"))
    assert reasons(result) == ["with --unsafe: leaving it out could change the result"]
    assert "catch_exceptions" not in text_of(fixed(tmp_path, RUN, library=runner("catch_exceptions=True"), unsafe=True))


def test_a_name_that_is_alike_is_a_guess(tmp_path: Path) -> None:
    library = runner("separate_stderr=True")
    assert reasons(fixed(tmp_path, RUN, library=library)) == [
        "with --unsafe: no release says that `separate_stderr` is what `mix_stderr` was"
    ]
    assert "separate_stderr" in text_of(fixed(tmp_path, RUN, library=library, unsafe=True))


@pytest.mark.parametrize(
    ("against", "written"),
    [
        (">=2", 'allowed_methods=["GET"]'),
        (
            "all",
            (
                "    **(\n"
                '        {"methods_listed": ["GET"]}\n'
                "        if _RUN_TAKES_METHODS_LISTED\n"
                '        else {"allowed_methods": ["GET"]}\n'
                "    ),\n"
            ),
        ),
    ],
)
def test_a_name_that_came_before_the_old_one_went(tmp_path: Path, against: str, written: str) -> None:
    """As in urllib3: 1.25 has `method_whitelist`, 1.26 both, 2.0 `allowed_methods`. The old one goes on as it did."""
    texts = ["(total=1, methods_listed=None)", "(total=1, other=0, allowed_methods=None, methods_listed=None)"]
    texts.append("(total=1, other=0, allowed_methods=None)")
    releases = [of_one_function(str(number), signature(text)) for number, text in enumerate(texts, 1)]
    library = merge("shell", "shell", releases)
    source = 'import shell\n\nanswer = shell.run(methods_listed=["GET"])\n'
    assert reasons(fixed(tmp_path, source, library=library, against=against)) == [
        "with --unsafe: no release says that `allowed_methods` is what `methods_listed` was"
    ]
    result = fixed(tmp_path, source, library=library, against=against, unsafe=True)
    assert written in text_of(result)
    assert not result.after.failed
    assert not fixed(tmp_path, text_of(result), library=library, against=against, unsafe=True).offer.files


def test_a_release_that_takes_the_old_name_for_the_new_one_makes_it_sure(tmp_path: Path) -> None:
    texts = {"1": ("(path, line_terminator=None)", ()), "2": ("(path, ending=None)", ("line_terminator",))}
    texts["3"] = ("(path, ending=None)", ())
    snapshots = []
    for release, (text, more) in texts.items():
        snapshots.append(of_one_function(release, replace(signature(text), extra_keywords=more)))
    source = "import shell\n\nshell.run('x', line_terminator=0)\n"
    result = fixed(tmp_path, source, library=merge("shell", "shell", snapshots), against=">=2")
    assert text_of(result) == source.replace("line_terminator", "ending")
    assert not result.after.failed


def test_a_keyword_that_no_release_takes_is_not_repaired(tmp_path: Path) -> None:
    result = fixed(tmp_path, "import kiln\n\nkiln.fire(1, 2, color=3)\n", unsafe=True)
    assert reasons(result) == ["no recorded release takes `color`"]


def test_a_second_run_changes_nothing_more(tmp_path: Path) -> None:
    source = """\
        import kiln


        def bake(pot):
            kiln.wash(pot, degrees=40)
            return kiln.fire(pot, minutes=30, glaze="blue")
        """
    first = text_of(fixed(tmp_path, source, unsafe=True))
    again = fixed(tmp_path, first, unsafe=True)
    assert not again.offer.files
    assert not again.offer.refusals


def test_what_another_repair_makes_go_away_keeps_nothing_back(tmp_path: Path) -> None:
    """A place that is another in later releases, and is filled twice there: with a name it is neither."""
    texts = ["(total, output=False)", "(total, output=False, early=0)", "(total, early=0, output=False)"]
    releases = [of_one_function(str(number), signature(text)) for number, text in enumerate(texts, 1)]
    library = merge("shell", "shell", releases)
    source = """\
        import shell


        def main():
            options = {"early": 2}
            return shell.run(1, True, **options)
        """
    result = fixed(tmp_path, source, library=library, unsafe=True)
    assert "shell.run(1, output=True, **options)" in text_of(result)
    assert '    if _RUN_TAKES_EARLY:\n        options["early"] = 2\n' in text_of(result)
    assert not result.offer.refusals
    assert not result.after.failed
    assert not fixed(tmp_path, text_of(result), library=library, unsafe=True).offer.files


def test_a_default_that_a_comment_speaks_of_is_kept(tmp_path: Path) -> None:
    source = """\
        import kiln


        def bake(pot):
            return kiln.fire(
                pot,
                minutes=30,
                # no glaze: it would run
                glaze=None,
            )
        """
    text = text_of(fixed(tmp_path, source, unsafe=True))
    assert '    if _FIRE_TAKES_GLAZE:\n        # no glaze: it would run\n        kwargs["glaze"] = None\n' in text


def test_the_quotation_marks_of_the_file(tmp_path: Path) -> None:
    head = '"""Bakes."""\n\nimport kiln\n\nNAME = "oven"\n\n\ndef bake(pot):\n    """Bake."""\n'
    source = f"{head}    print('a', 'b')\n    return kiln.fire(pot, 30, glaze='blue')\n"
    text = text_of(fixed(tmp_path, source, unsafe=True))
    assert "_FIRE_TAKES_GLAZE = _takes(kiln.fire, 'glaze')\n" in text
    assert "kwargs['glaze'] = 'blue'\n" in text


@pytest.mark.parametrize("end", ['del options["glaze"]', 'options.pop("glaze")', 'print(options["glaze"])'])
def test_what_is_taken_out_of_the_dict_again_is_left_there(tmp_path: Path, end: str) -> None:
    source = f"""\
        import kiln

        def bake(pot, plain):
            options = {{"minutes": 30}}
            options["glaze"] = "blue"
            if plain:
                {end}
            return kiln.fire(pot, **options)
        """
    assert reasons(fixed(tmp_path, source, unsafe=True)) == ["`glaze` is taken out of a dict again, or read there"]


def test_a_flag_that_another_repair_makes_is_used(tmp_path: Path) -> None:
    """What only a second run would find there: a second run changes nothing more."""
    source = """\
        import functools
        import importlib

        import kiln


        def bake(pot):
            return kiln.fire(pot, minutes=30, glaze="blue")


        def again(pot):
            fire = functools.partial(importlib.import_module("kiln").fire, glaze="red")
            return fire(pot, minutes=3)
        """
    result = fixed(tmp_path, source, unsafe=True)
    assert text_of(result).count("if _FIRE_TAKES_GLAZE") == 2
    assert not fixed(tmp_path, text_of(result), unsafe=True).offer.files
