"""Small programs that say themselves what driftwatch must say of them.

A line that breaks bears a mark: ``#! DW101 early 0.1.0 raises``: the code, the parameter or name, the releases as
reports print them, the outcome, and for one that is taken the line of the handler (``silent@7``); ``may`` at the end is
what holds only under a test that could not be followed. Several marks on a line are set apart by ``;``. ``#? text``
marks a line whose meaning driftwatch must say it does not know. What bears no mark is right.

The library is the one of the differential test, whose releases are 0.1.0, 0.2.0, 0.2.0.post1 and 0.10.0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

from driftwatch.findings.finding import Verdict
from driftwatch.flow.project import Analysis, analyse
from driftwatch.rules import apply
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.history import History, merge
from tests.differential import library
from tests.differential.programs import ANYTHING, Call, Program

CODES = ("DW1", "DW2", "DW302")
"""The rules that speak of what is raised; the others have tests of their own."""

MARK = re.compile(r"#([!?]) (.*)$")


@dataclass(frozen=True)
class Marked:
    """A program: its files by path, `main.py` among them. `runs` says that Python itself is asked whether the marks are
    true, by executing it against every release."""

    name: str
    files: Mapping[str, str]
    runs: bool = True

    @property
    def marks(self) -> set[str]:
        return {
            f"{path}:{number} {mark.strip()}"
            for path, text in self.files.items()
            for number, line in enumerate(text.splitlines(), 1)
            if (found := MARK.search(line))
            for mark in (found[2].split(";") if found[1] == "!" else [f"? {found[2]}"])
        }

    @property
    def program(self) -> Program:
        tree = ast.parse(self.files["main.py"])
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("run")]
        calls = (Call(f.name, {a.arg: (ANYTHING,) for a in f.args.args}) for f in functions)
        return Program(dict(self.files), "main", tuple(calls))


def marked(name: str, text: str, runs: bool = True, **others: str) -> Marked:
    """A program; `others` are further files, ``package__module`` for ``package/module.py``."""
    files = {
        f"{name.replace('__', '/')}.py".replace("/init.py", "/__init__.py"): other for name, other in others.items()
    }
    return Marked(
        name, {path: dedent(source).lstrip("\n") for path, source in {"main.py": text, **files}.items()}, runs
    )


@cache
def history() -> History:
    return merge("lib-dist", "lib.comm", library.snapshots())


def write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return [folder / path for path in files]


def analysed(folder: Path, files: Mapping[str, str]) -> Analysis:
    """The analysis of some files, which are written to a folder."""
    return analyse(folder, write(folder, files), [history()])


def said(analysis: Analysis) -> set[str]:
    """What the rules say, in the form of marks."""
    contexts = {"lib-dist": Context(history(), history().timeline.all)}
    verdicts = [v for v in apply(analysis.uses, contexts) if v.code.startswith(CODES)]
    unknown = {f"{each.path}:{each.line} ? {each.reason}" for each in analysis.unresolved}
    return {_mark(verdict) for verdict in verdicts} | unknown


def _mark(verdict: Verdict) -> str:
    place = f"{verdict.location.path}:{verdict.location.line}"
    what = verdict.parameter or verdict.symbol.rpartition(".")[2]
    releases = history().timeline.describe(verdict.releases)
    may = [] if not verdict.conditional else ["may"] if verdict.conditional == verdict.releases else ["may in part"]
    return " ".join([place, verdict.code, what, releases, *_outcome(verdict), *may])


def _outcome(verdict: Verdict) -> list[str]:
    """Nothing for what is not raised: an argument that lands elsewhere, a patch of nothing."""
    catch = verdict.catch
    if catch is None:
        return []
    if catch.line is None:
        return [catch.outcome.value]
    file = "" if catch.path == verdict.location.path else f"{catch.path}:"
    return [f"{catch.outcome.value}@{file}{catch.line}"]
