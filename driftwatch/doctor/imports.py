"""Causes in what importing and calling did, and in what is known of importing the release that is there.

Enters: a case, and what its packages predict. Leaves: causes. What was tried is the truth: a prediction that did not
come true is dropped, one that did gets what was raised as its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet

from driftwatch.doctor.case import Case
from driftwatch.doctor.model import Attempt, Cause, Weight
from driftwatch.rules.advisories import ImportFailure
from driftwatch.targets.companions import among


def failures(case: Case) -> tuple[ImportFailure, ...]:
    """What importing the installed release is known to raise, on some machine or Python."""
    if case.recorded is None:
        return ()
    known = case.recorded.knowledge.import_failures
    return tuple(
        each for each in known if each.releases & case.here and not each.module.startswith(f"{case.needs.module}.")
    )


def predicted(case: Case) -> Iterator[Cause]:
    """What this release raises with this Python on every machine."""
    for failure in failures(case):
        if failure.python and SpecifierSet(failure.python).contains(case.facts.python, prereleases=True):
            said = f"`import {failure.module}` raises {failure.exception} {failure.when}, in {case.named}"
            fixed = case.fixed_in(failure.releases)
            fix = (case.remedies.own(fixed),) if fixed else ()
            evidence = (f"this is Python {case.facts.python}", *failure.evidence)
            yield Cause(failure.id, Weight.BLOCKS, said, evidence, fix, defect=True)


def importing(case: Case, expected: Sequence[Cause]) -> Iterator[Cause]:
    """The import stage: `expected` are causes that say that the import raises."""
    trial = case.trial
    done = trial.imported if trial is not None else None
    if case.works:
        return
    if done is None or done.unfinished:
        yield from expected
        if not any(cause.weight is Weight.BLOCKS for cause in expected):
            yield _open(case, done)
        return
    assert done.error is not None
    explaining = [cause for cause in expected if cause.weight is Weight.BLOCKS and _explains(cause, done)]
    seen = f"`import {case.needs.module}` {done.came_to}"
    for cause in explaining[:1]:
        yield replace(cause, evidence=(seen, *_at(done), *cause.evidence))
    yield from (cause for cause in expected if cause not in explaining[:1])
    if not explaining:
        yield _raised(case, done, seen)


def _open(case: Case, done: Attempt | None) -> Cause:
    if done is not None:
        said = f"whether `import {case.needs.module}` works: {done.error}"
        return Cause("import-unfinished", Weight.OPEN, said, fix=("driftwatch doctor --timeout 600",))
    known = tuple(f"it may raise {each.exception} {each.when}" for each in failures(case) if each.python is None)
    said = f"whether `import {case.needs.module}` works: it was not tried"
    return Cause("import-untried", Weight.OPEN, said, known, ("driftwatch doctor",))


def _explains(cause: Cause, done: Attempt) -> bool:
    """Whether a cause speaks of an exception of this type."""
    return done.kind is not None and done.kind in cause.what


def _raised(case: Case, done: Attempt, seen: str) -> Cause:
    known = [each for each in failures(case) if _fits(case, each, done)]
    evidence = [*_at(done)]
    fix: list[str] = []
    for failure in known:
        evidence += [f"known of this release: {failure.exception} {failure.when}", *failure.evidence]
        fixed = case.fixed_in(failure.releases)
        fix += [case.remedies.own(fixed)] if fixed else []
    if done.kind in ("ModuleNotFoundError", "ImportError"):
        fix.append(case.remedies.own(case.release))
    return Cause("import-fails", Weight.BLOCKS, seen, tuple(evidence), tuple(dict.fromkeys(fix)), defect=True)


def _fits(case: Case, failure: ImportFailure, done: Attempt) -> bool:
    """Whether what was raised may be this one: of the same type, and over the same thing."""
    module = case.needs.module
    if failure.exception != done.kind or not f"{module}.".startswith(f"{failure.module}."):
        return False
    if failure.python is not None:
        return SpecifierSet(failure.python).contains(case.facts.python, prereleases=True)
    names = [*case.needs.libraries, *(each.distribution for each in case.needs.companions.companions)]
    names += re.findall(r"No module named '([\w.]+)'", done.error or "")
    return any(name in failure.when and name in (done.error or "") for name in names)


def _at(done: Attempt) -> tuple[str, ...]:
    return (f"at {done.where}",) if done.where else ()


def calling(case: Case) -> Iterator[Cause]:
    """What is called after the import, what was imported before it, and libraries that look like another."""
    trial = case.trial
    if trial is None:
        return
    for done in trial.before:
        if done.error is not None:
            said = f"`import {done.what}`, which was asked for first, {done.came_to}"
            yield Cause("import-before", Weight.OPEN, said, _at(done))
    mapped = tuple(f"mapped into the process: {path}" for path in trial.mapped)
    for done in trial.calls:
        if done.error is None:
            continue
        name = done.what.rpartition(":")[2]
        if done.kind == "AttributeError" and f"'{name}'" in done.error:
            # A fork need not have what is called.
            yield Cause("call-unknown", Weight.OPEN, f"what {done.what} finds: {done.error}")
            continue
        weight = Weight.OPEN if done.unfinished else Weight.BLOCKS
        found = mapped or (f"no {' or '.join(case.needs.libraries)} is mapped into the process",)
        said = f"`{done.what}` {done.came_to}"
        yield Cause("call-fails", weight, said, (*found, *_at(done)), _exact(case), weight is Weight.BLOCKS)


def look_alikes(case: Case) -> Iterator[Cause]:
    """Packages whose files are taken for the library that is looked for by name, once they are imported."""
    found = case.facts.look_alikes
    if not found or case.release is None or not among(case.release, case.needs.by_beginning):
        return
    names = sorted({name for name, _ in found})
    said = f"{' and '.join(names)} may be taken for {' or '.join(case.needs.libraries)} where it is imported first"
    fix = tuple(f"driftwatch doctor --after {name.replace('-', '_')}" for name in names)
    yield Cause("look-alike", Weight.NOTE, said, tuple(file for _, file in found), fix)


def _exact(case: Case) -> tuple[str, ...]:
    """The first release that takes no library for another, where the installed one does and such a one is mapped."""
    trial, own = case.trial, case.release
    if trial is None or own is None or case.recorded is None or not among(own, case.needs.by_beginning):
        return ()
    if all(
        path.rpartition("/")[2].startswith(tuple(f"{name}.so" for name in case.needs.libraries))
        for path in trial.mapped
    ):
        return ()
    fixed = case.fixed_in(case.recorded.timeline.matching(case.needs.by_beginning))
    return (case.remedies.own(fixed),) if fixed else ()
