"""Causes in where kernels come from, and what else is known of the release on a machine like this.

Enters: a case. Leaves: causes. Kernels that are compiled at the first call need a compiler that knows the GPUs. Which
were compiled before is evidence, and no more: a release looks whether they are up to date, with the same tools, so that
a missing one leaves the verdict open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from packaging.version import Version

from driftwatch.doctor.case import Case
from driftwatch.doctor.hardware import visible
from driftwatch.doctor.machine import beside
from driftwatch.doctor.model import Cause, Weight
from driftwatch.doctor.needs import Condition
from driftwatch.findings.finding import Severity
from driftwatch.targets.companions import Companion, among

_MOST = 6


def kernels(case: Case) -> Iterator[Cause]:
    """Whether the kernels are there, or can be compiled."""
    needs, facts = case.needs, case.facts
    if not needs.compilers or facts.modules[needs.top].folder is None or _brought(case):
        return
    fix = (
        *case.remedies.kernels(),
        *(c for each in needs.companions.companions if each.used for c in case.remedies.companion(each)),
    )[:2]
    off = needs.no_compiler
    if off and facts.variables.get(off):
        said = f"{off} forbids compiling, and no installed package brings the kernels"
        seen = (f"{off}={facts.variables[off]}", *_empty_handed(case))
        yield Cause("kernels", Weight.OPEN, said, seen, (f"unset {off}", *fix))
        return
    tools = facts.tools
    ninja = tools.ninja or beside(facts.executable, "ninja")
    lacking = [
        name
        for name, there in (("nvcc", tools.nvcc), ("ninja", ninja), ("a C++ compiler", tools.compiler))
        if not there
    ]
    if lacking:
        said = f"kernels are compiled at the first call, and there is no {' and no '.join(lacking)}"
        yield Cause("kernels", Weight.OPEN, said, (*_empty_handed(case), _compiled(case)), fix)
        return
    for device in visible(case) or ():
        wanted = _wanted(needs.compilers, device.capability)
        if wanted and tools.nvcc_cuda and Version(tools.nvcc_cuda) < Version(wanted):
            said = f"nvcc is of CUDA {tools.nvcc_cuda}, and compute capability {device.capability} needs {wanted}"
            yield Cause("compiler", Weight.OPEN, said, (f"it is {tools.nvcc}",), fix)
            return


def contents(case: Case) -> Iterator[Cause]:
    """Companions that are there and bring nothing."""
    for companion in case.needs.companions.companions:
        if case.facts.modules[companion.module].empty and not case.facts.modules[companion.module].bare:
            said = f"{companion.distribution} is installed, and has no file in its folder {companion.payload}"
            yield Cause(
                "companion-empty", Weight.NOTE, f"{said}: {companion.missing}", fix=case.remedies.companion(companion)
            )


def _empty_handed(case: Case) -> tuple[str, ...]:
    """The companions that bring kernels, and not those of the path."""
    modules = case.facts.modules
    return tuple(
        f"{each.distribution} is there, and has no {case.needs.kernel}"
        for each in case.needs.companions.companions
        if each.used and modules[each.module].found and not modules[each.module].bare and _has(case, each) is False
    )


def _compiled(case: Case) -> str:
    """What was compiled before, for the installed release where the folder says so."""
    found = case.facts.compiled
    if not case.needs.kernel:
        return "kernels that were compiled before may be in the cache"
    if not found:
        return f"no {case.needs.kernel} was compiled before"
    return f"compiled before: {found[0]}" + (f", and {len(found) - 1} more" if len(found) > 1 else "")


def _has(case: Case, companion: Companion) -> bool | None:
    """Whether a companion has the path's kernels; None where nobody says what they are called.

    From some release on what it brings lies in further packages, whose records say it.
    """
    own = case.facts.modules[case.needs.top].folder
    others = [path for path in case.facts.brought if own is None or not path.startswith(own + os.sep)]
    return bool(others) if case.needs.kernel else None


def _brought(case: Case) -> bool:
    """Whether a companion that fits brings the kernels, or the library itself where there is none."""
    used = [each for each in case.needs.companions.companions if each.used]
    if case.facts.brought and not any(case.facts.modules[each.module].found for each in used):
        return True
    for companion in case.needs.companions.companions:
        module = case.facts.modules[companion.module]
        if not companion.used or not module.found or module.bare or case.release is None:
            continue
        versions = case.facts.versions(companion.distribution)
        version = module.version or (versions[0] if len(versions) == 1 else None)
        if version is not None and companion.fits(case.release, version) and _has(case, companion) is not False:
            return True
    return False


def _wanted(compilers: tuple[tuple[str, str], ...], capability: str | None) -> str | None:
    """The first CUDA whose compiler knows a capability: the entry for it, else for its major."""
    known = dict(compilers)
    return None if capability is None else known.get(capability) or known.get(capability.partition(".")[0])


def known(case: Case) -> Iterator[Cause]:
    """What the target's data knows of this release on a machine or in an environment like this."""
    for condition in case.needs.conditions:
        if case.release is None or not among(case.release, condition.releases):
            continue
        holds = _holds(case, condition)
        if holds:
            fix = [condition.fix] if condition.fix else []
            fix += [case.remedies.own(condition.fixed_in)] if condition.fixed_in else []
            weight = Weight.OPEN if condition.opens else Weight.NOTE
            yield Cause(condition.id, weight, condition.says, fix=tuple(fix))
    if case.recorded is None:
        return
    found = [
        each
        for each in case.recorded.knowledge.advisories
        if each.releases & case.here and each.severity is not Severity.NOTE
    ]
    if found:
        said = f"calls behave otherwise in {case.release} than in other releases; `driftwatch scan` tells which"
        more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
        names = ", ".join(advisory.id for advisory in found[:_MOST])
        yield Cause("advisories", Weight.NOTE, said, (f"{names}{more}",))


def _holds(case: Case, condition: Condition) -> bool:
    """Whether a condition is known to hold."""
    facts = case.facts
    if condition.when == "no-multicast":
        found = visible(case) or ()
        return bool(found) and any(device.multicast is False for device in found)
    if condition.when == "no-ptrace":
        # With 0 anything of one's own may be traced, with 1 only what one has started.
        return facts.ptrace_scope is not None and facts.ptrace_scope > 0 and facts.may_trace is False
    kind, _, name = condition.when.partition(":")
    return kind == "no-module" and not facts.modules[name].found


def unrecorded(case: Case) -> Iterator[Cause]:
    """A release that nothing is recorded of."""
    if case.recorded is None or case.here or case.version is None:
        return
    said = f"what {case.named} is like: no such release is recorded"
    yield Cause("unrecorded", Weight.OPEN, said, fix=("driftwatch snapshot update",))
