"""An examined environment, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from driftwatch import __version__
from driftwatch.doctor import Attempt, Examination, Verdict
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose


def render(examination: Examination, look: Look) -> str:
    return compose(_lines(examination), look)


def render_json(examination: Examination) -> str:
    form = asdict(examination)
    for verdict in form["verdicts"]:
        verdict["versions"] = dict(verdict["versions"])
    return json.dumps({"schema": 1, "driftwatch": __version__, **form}, indent=2) + "\n"


def _lines(examination: Examination) -> Iterator[Line | Hanging]:
    width = max(
        (len(name) for verdict in examination.verdicts for name, _ in verdict.versions),
        default=0,
    )
    width = max(width, len("driftwatch"))
    yield _row("driftwatch", __version__, width)
    yield _row("python", f"{examination.python} ({examination.executable})", width)
    yield _row("platform", examination.platform, width)
    for gpu in examination.gpus:
        said = f"{gpu.name}, compute capability {gpu.capability}, driver {gpu.driver}, {gpu.memory}"
        yield _row(f"GPU {gpu.index}", said, width)
    if not examination.gpus:
        yield _row("GPU", f"none: {examination.gpu_note}", width)
    for verdict in examination.verdicts:
        yield ()
        for name, version in verdict.versions:
            yield _row(name, version or "not installed", width, "" if version else "dim")
        if verdict.attempt is not None:
            yield _attempt(verdict.attempt, width)
        yield from _judgement(verdict)


def _judgement(verdict: Verdict) -> Iterator[Line | Hanging]:
    for problem in verdict.problems:
        yield Hanging((Span("problem: ", "error"),), (Span(safe(problem)),))
    if verdict.problems or verdict.obstacles:
        yield Hanging((Span(f"{safe(verdict.feature)} cannot run here", "error"), Span(": ")), _why(verdict))
    elif verdict.unknown:
        yield Hanging((Span(f"{safe(verdict.feature)} may run here", "warning"), Span("; not known: ")), _open(verdict))
    else:
        yield (Span(f"{safe(verdict.feature)} can run here", "good"),)


def _why(verdict: Verdict) -> Line:
    reasons = verdict.obstacles or ("see the problem above",)
    return (Span("; ".join(safe(reason) for reason in reasons)),)


def _open(verdict: Verdict) -> Line:
    return (Span("; ".join(safe(question) for question in verdict.unknown)),)


def _attempt(attempt: Attempt, width: int) -> Line | Hanging:
    took = "" if attempt.seconds is None else f" ({attempt.seconds:.1f}s)"
    said = f"works{took}" if attempt.error is None else f"raises {attempt.error}{took}"
    return _row(f"import {attempt.module}", said, width)


def _row(name: str, text: str, width: int, style: str = "") -> Hanging:
    return Hanging((Span(f"{safe(name):<{width}}  ", "code"),), (Span(safe(text), style),))
