"""An examined environment, for a person and as JSON.

The first lines are the verdicts; then come the causes of each, what blocks first, with evidence and the command that
fixes; then what was found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from driftwatch import __version__
from driftwatch.doctor.model import Attempt, Cause, Device, Driver, Examination, State, Verdict, Weight
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose

_STYLE = {State.ACTIVE: "good", State.CAN_RUN: "good", State.UNKNOWN: "warning", State.CANNOT_RUN: "error"}
_TITLE = {Weight.BLOCKS: "why", Weight.OPEN: "not known", Weight.NOTE: "worth knowing"}


def render(examination: Examination, look: Look) -> str:
    return compose(_lines(examination), look)


def render_json(examination: Examination) -> str:
    facts = examination.facts
    form = {
        "schema": 1,
        "driftwatch": __version__,
        "verdicts": [_verdict(verdict) for verdict in examination.verdicts],
        "python": {"version": facts.python, "executable": facts.executable, "platform": facts.platform},
        "gpus": [asdict(gpu) for gpu in _gpus(examination)],
        "driver": {"version": facts.smi.version, "cuda": facts.driver.cuda or facts.smi.cuda, "links": facts.smi.links},
        "nvcc": {"path": facts.tools.nvcc, "cuda": facts.tools.nvcc_cuda},
        "ptrace_scope": facts.ptrace_scope,
        "variables": dict(sorted(facts.variables.items())),
    }
    return json.dumps(form, indent=2) + "\n"


def _verdict(verdict: Verdict) -> dict[str, Any]:
    trial = verdict.trial
    return {
        "distribution": verdict.distribution,
        "feature": verdict.feature,
        "verdict": verdict.state.value,
        "release": verdict.release,
        "versions": dict(verdict.versions),
        "causes": [
            {
                "id": cause.id,
                "weight": cause.weight.value,
                "what": cause.what,
                "evidence": list(cause.evidence),
                "fix": list(cause.fix),
            }
            for cause in verdict.causes
        ],
        "import": None if trial is None or trial.imported is None else _attempt(trial.imported),
        "calls": [] if trial is None else [_attempt(each) for each in trial.calls],
        "torch": None if trial is None or trial.framework is None else _torch(trial.framework.version, verdict),
        "run": None if verdict.run is None else {"gpus": verdict.run.gpus, "problems": list(verdict.run.problems)},
    }


def _torch(version: str | None, verdict: Verdict) -> dict[str, Any]:
    found = verdict.trial.framework if verdict.trial is not None else None
    assert found is not None
    return {"version": version, "cuda": found.cuda, "hip": found.hip, "available": found.available}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {"what": attempt.what, "error": attempt.error, "where": attempt.where, "seconds": attempt.seconds}


def _lines(examination: Examination) -> Iterator[Line | Hanging]:
    for verdict in examination.verdicts:
        named = next((version for _, version in verdict.versions[:1]), None)
        said = f"{verdict.feature} of {verdict.distribution}{' ' + named if named else ''}"
        yield (Span(verdict.state.value, _STYLE[verdict.state]), Span(f": {safe(said)}"))
    for verdict in examination.verdicts:
        yield from _causes(verdict)
    yield ()
    yield from _facts(examination)


def _causes(verdict: Verdict) -> Iterator[Line | Hanging]:
    before: Weight | None = None
    for number, cause in enumerate(verdict.causes, 1):
        if cause.weight is not before:
            yield ()
            yield (Span(_TITLE[cause.weight], "heading"),)
            before = cause.weight
        yield from _cause(number, cause)


def _cause(number: int, cause: Cause) -> Iterator[Line | Hanging]:
    yield Hanging((Span(f"{number:>2}. "),), (Span(safe(cause.what)),))
    for seen in cause.evidence:
        yield Hanging((Span("    seen  ", "dim"),), (Span(safe(seen)),))
    for command in cause.fix:
        yield Hanging((Span("    fix   ", "good"),), (Span(safe(command), "code"),))


def _facts(examination: Examination) -> Iterator[Line | Hanging]:
    facts = examination.facts
    rows: list[tuple[str, str, str]] = [
        ("driftwatch", __version__, ""),
        ("python", f"{facts.python} ({facts.executable})", ""),
        ("platform", facts.platform, ""),
    ]
    gpus = _gpus(examination)
    for gpu in gpus:
        capability = f"compute capability {gpu.capability or 'not known'}"
        rows.append((f"GPU {gpu.index}", ", ".join(part for part in (gpu.name, capability, gpu.memory) if part), ""))
    if not gpus:
        notes = [note for note in (facts.smi.note, facts.driver.note) if note]
        rows.append(("GPU", "; ".join(notes) or "none", "dim"))
    if facts.smi.links:
        rows.append(("links", facts.smi.links, ""))
    rows.append(("CUDA", _cuda(examination), ""))
    for verdict in examination.verdicts:
        rows += [(name, version or "not installed", "" if version else "dim") for name, version in verdict.versions]
        if verdict.trial is not None and verdict.trial.imported is not None:
            rows.append(_tried(verdict.trial.imported))
    width = max(len(name) for name, _, _ in rows)
    for name, text, style in rows:
        yield Hanging((Span(f"{safe(name):<{width}}  ", "code"),), (Span(safe(text), style),))


def _gpus(examination: Examination) -> tuple[Device, ...]:
    """The GPUs as whoever knows them best describes them."""
    for verdict in examination.verdicts:
        if verdict.trial is not None and verdict.trial.framework is not None and verdict.trial.framework.devices:
            return verdict.trial.framework.devices
    ranked: tuple[Driver, ...] = (examination.facts.driver, examination.facts.smi)
    return next((found.devices for found in ranked if found.devices), ())


def _cuda(examination: Examination) -> str:
    """The CUDA of everything that has one."""
    facts = examination.facts
    torch = next((v.trial.framework for v in examination.verdicts if v.trial and v.trial.framework), None)
    built = None if torch is None else torch.cuda or ("none" if torch.built_for_cuda is False else None)
    driver = facts.driver.cuda or facts.smi.cuda
    if facts.smi.version:
        driver = f"{driver or 'not known'} ({facts.smi.version})"
    parts = (("driver", driver), ("torch", built), ("nvcc", facts.tools.nvcc_cuda))
    return ", ".join(f"{name} {version or 'not known'}" for name, version in parts)


def _tried(attempt: Attempt) -> tuple[str, str, str]:
    took = "" if attempt.seconds is None else f" ({attempt.seconds:.1f}s)"
    return (f"import {attempt.what}", "works" + took if attempt.error is None else f"fails{took}", "")
