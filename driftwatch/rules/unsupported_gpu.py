"""DW402: a call whose kernels are not there for the GPU that a scan is for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from driftwatch.errors import UsageError
from driftwatch.findings.finding import RELEASES, Severity, Verdict, is_broad
from driftwatch.flow.uses import CallUse, Outcome, Use
from driftwatch.releases import ReleaseSet
from driftwatch.rules.advisories import Kernels
from driftwatch.rules.conditions import holding
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule

_HEADING = Heading("DW402", "unsupported-gpu", Severity.ERROR)
_GPU = re.compile(r"(?:sm_?)?([1-9][0-9]?)\.?([0-9])[af]?")


def parse_gpu(text: str) -> tuple[int, int]:
    """A compute capability as people write it: ``sm90``, ``sm_100a``, ``12.0``."""
    found = _GPU.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(f"{text!r} is no GPU architecture", "write it as in sm90, sm_120 or 12.0")
    return int(found.group(1)), int(found.group(2))


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if context.gpu is None or not isinstance(use, CallUse):
        return
    for kernels in context.knowledge.kernels:
        if not kernels.are_for(context.gpu):
            releases = holding(use, kernels, context)
            if releases:
                yield _verdict(use, kernels, context.gpu, releases)


def _verdict(use: CallUse, kernels: Kernels, gpu: tuple[int, int], releases: ReleaseSet) -> Verdict:
    verdict = _HEADING.verdict(
        use,
        use.callee.dotted,
        releases,
        f"the kernels behind `{use.callee.qualname}` are there for {told(kernels)} in {RELEASES}, and not for "
        f"sm{gpu[0]}{gpu[1]}",
        f"go another way on such a GPU (see {', '.join(kernels.evidence)})",
        parameter=kernels.conditions[0].parameter if kernels.conditions else None,
        severity=Severity.WARNING if kernels.conditions else Severity.ERROR,
    )
    # What a build makes of it differs: it is not compiled, or not launched. A clause for anything takes either.
    catch = verdict.catch
    hidden = catch is not None and catch.outcome is not Outcome.RAISES and is_broad(catch)
    return replace(verdict, name=_HEADING.name, catch=catch if hidden else None, exception=None)


def told(kernels: Kernels) -> str:
    """The GPUs of kernels for a person."""
    return compute(kernels.compute)


def compute(capabilities: Iterable[str]) -> str:
    """Compute capabilities, or majors of them, for a person: ``sm9x, sm100``."""
    return ", ".join(f"sm{each.replace('.', '')}" if "." in each else f"sm{each}x" for each in capabilities)


_DRY = """\
import kiln


def bake(pot):
    return kiln.glow(pot, 0)
"""

_OTHER = """\
import kiln


def bake(pot):
    return kiln.fire(pot, 10)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A call whose kernels are not there for the GPU that is asked for with `--gpu`.",
    rationale=(
        "Kernels are compiled for some GPUs and not for others, and the list changes with the releases. "
        "driftwatch checks this only if a scan asks for a GPU: `driftwatch scan --gpu sm120`. Which kernels a "
        "release has is data of the target, read from the library's sources. A call that certainly needs "
        "missing kernels is an error; if an argument decides, it is a warning."
    ),
    hint="Ask for the GPU first, and go another way.",
    check=check,
    bad=(Example("Asked for sm90, which came with 2.0", _DRY, (Expected(5, "1.0 to 1.2", None),), gpu=(9, 0)),),
    good=(
        Example("No GPU is asked for", _DRY),
        Example("Runs anywhere", _OTHER, gpu=(9, 0)),
    ),
)
