"""What an environment has, and whether the library's accelerated path can run in it.

Enters: a Python interpreter (by default the running one), what the targets need, and what is recorded of them. Leaves:
an `Examination`, as data. Nothing of the library is imported in this process: that is done in one of its own, whose
death is an answer too, and for which there is only so much time. What cannot be found out is not known, and said so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driftwatch.doctor import hardware, imports, kernels, machine, packages
from driftwatch.doctor.asking import Answer, ask
from driftwatch.doctor.case import Case, Recorded, case_of
from driftwatch.doctor.model import (
    Attempt,
    Cause,
    Device,
    Distribution,
    Driver,
    Examination,
    Facts,
    Framework,
    Module,
    Run,
    State,
    Trial,
    Verdict,
    Weight,
)
from driftwatch.doctor.needs import Needs
from driftwatch.doctor.running import run_path
from driftwatch.errors import InputError

_SECONDS = 60
_SHADOWS = "PYTHONPATH"
"""Leads to folders that come before those of Python itself."""
_VARIABLES = (
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONPATH",
)


def examine(
    needs: Iterable[Needs],
    recorded: Mapping[str, Recorded],
    *,
    python: str | None = None,
    importing: bool = True,
    after: Sequence[str] = (),
    adapters: Mapping[str, str] | None = None,
    seconds: float = 120,
    environment: Mapping[str, str] = os.environ,
) -> Examination:
    """Look at an environment. `recorded` is by distribution.

    With `importing`, the library is imported after the modules in `after`, within `seconds`. `adapters` are programs
    that run the accelerated path, by distribution: those are run as well.
    """
    wanted = tuple(needs)
    interpreter = python or sys.executable
    facts = _facts(interpreter, wanted, environment)
    verdicts: list[Verdict] = []
    for need in wanted:
        there = facts.modules[need.top].found or bool(facts.versions(need.distribution))
        trial = _trial(interpreter, need, after, seconds) if importing and there else None
        case = case_of(need, facts, trial, None, recorded.get(need.distribution))
        causes = _causes(case)
        program = (adapters or {}).get(need.distribution)
        done: Run | None = None
        if program is not None and not any(cause.weight is Weight.BLOCKS for cause in causes):
            done = run_path(interpreter, program, len(hardware.visible(case) or ()), need.group_sizes, seconds)
            causes = [*_ran(done), *causes]
        verdicts.append(_verdict(case, done, causes))
    return Examination(facts, tuple(verdicts))


# -- facts ---------------------------------------------------------------------------------------------------------


def _facts(python: str, wanted: Sequence[Needs], environment: Mapping[str, str]) -> Facts:
    distributions = list(dict.fromkeys(name for need in wanted for name in need.distributions))
    modules = list(dict.fromkeys(name for need in wanted for name in need.modules))
    libraries = list(dict.fromkeys(name for need in wanted for name in need.libraries))
    companions = [each for need in wanted for each in need.companions.companions]
    question = {
        "task": "installed",
        "distributions": distributions,
        "modules": modules,
        "libraries": libraries,
        "kernels": [need.kernel for need in wanted if need.kernel],
        "caches": [list(need.cache) for need in wanted if need.cache],
        "payloads": {each.module: each.payload for each in companions if each.payload},
    }
    answer = ask(python, question, _SECONDS)
    if not answer.said or "executable" not in answer.said[0]:
        why = answer.ended.how if answer.ended.status != 0 else "it did not answer as a Python interpreter would"
        hint = "--python takes a Python interpreter"
        if environment.get(_SHADOWS) and ask(python, question, _SECONDS, without=(_SHADOWS,)).said:
            hint = f"without {_SHADOWS} it answers: something there has the name of one of Python's own modules"
        raise InputError(f"{python!r} cannot be asked what it has: {why}", hint)
    said = answer.said[0]
    gpus = any(need.kernels_of or need.group_sizes for need in wanted)
    return Facts(
        python=said["python"],
        executable=said["executable"],
        platform=said["platform"],
        markers=said["markers"],
        installer=tuple(said["installer"]),
        installed={
            name: tuple(
                Distribution(
                    each["name"], each["version"], each["folder"], tuple(each["requires"]), each["requires_python"]
                )
                for each in found
            )
            for name, found in said["installed"].items()
        },
        modules={
            name: Module(name, each["folder"], each["version"], each["bare"], tuple(each["copies"]), each["empty"])
            for name, each in said["modules"].items()
        },
        providers={name: tuple(found) for name, found in said["providers"].items()},
        look_alikes=tuple((name, file) for name, file in said["look_alikes"]),
        brought=tuple(said["kernels"]["brought"]),
        compiled=tuple(said["kernels"]["compiled"]),
        variables=_variables(wanted, environment),
        smi=machine.by_smi() if gpus else Driver(note="it was not asked"),
        driver=_driver(python) if gpus else Driver(note="it was not asked"),
        tools=machine.tools(environment),
        ptrace_scope=machine.ptrace_scope(),
        may_trace=machine.may_trace(),
    )


def _variables(wanted: Sequence[Needs], environment: Mapping[str, str]) -> dict[str, str]:
    names = list(_VARIABLES)
    for need in wanted:
        names += [each.elsewhere[0] for each in need.companions.companions if each.elsewhere]
        names += [name for name in (need.companions.switch, need.no_compiler) if name]
    return {name: environment[name] for name in dict.fromkeys(names) if name in environment}


def _driver(python: str) -> Driver:
    answer = ask(python, {"task": "driver"}, _SECONDS)
    if not answer.said:
        return Driver(note=f"the driver's library was asked, and {answer.ended.how}")
    said = answer.said[0]
    devices = said.get("devices")
    return Driver(
        cuda=said.get("cuda"),
        devices=None if devices is None else tuple(_device(each) for each in devices),
        peers=_peers(said),
        fabric=said.get("fabric"),
        note=said.get("note"),
    )


def _device(said: Mapping[str, Any]) -> Device:
    return Device(said["index"], said["name"], said["capability"], multicast=said.get("multicast"))


def _peers(said: Mapping[str, Any]) -> tuple[tuple[int, int, bool], ...] | None:
    found = said.get("peers")
    return None if found is None else tuple((one, other, reached) for one, other, reached in found)


def _trial(python: str, need: Needs, after: Sequence[str], seconds: float) -> Trial:
    question = {
        "task": "trial",
        "after": list(after),
        "module": need.module,
        "calls": list(need.calls),
        "libraries": list(need.libraries),
        "framework": need.framework,
    }
    answer = ask(python, question, seconds)
    imported = [_attempt(said["import"]) for said in answer.said if "import" in said]
    calls = [_attempt(said["call"]) for said in answer.said if "call" in said]
    broken = _broken_off(answer, seconds)
    if broken is not None and broken.what in need.calls:
        calls.append(broken)
    elif broken is not None and len(imported) <= len(after):
        imported.append(broken)
    own = imported[len(after)] if len(imported) > len(after) else None
    framework = next((said["framework"] for said in answer.said if "framework" in said), None)
    failed = next((said["framework_error"] for said in answer.said if "framework_error" in said), None)
    return Trial(
        before=tuple(imported[: len(after)]),
        imported=own,
        calls=tuple(calls),
        framework=None if framework is None else _framework(framework),
        framework_error=failed or (broken.error if broken is not None else None),
        mapped=tuple(next((said["mapped"] for said in answer.said if "mapped" in said), ())),
    )


def _attempt(said: Mapping[str, Any]) -> Attempt:
    return Attempt(said["what"], said["error"], said["kind"], said["where"], said["seconds"])


def _broken_off(answer: Answer, seconds: float) -> Attempt | None:
    """What was going on when the process died, or its time was up; None where it came to its end."""
    if answer.ended.status == 0 and any("mapped" in said for said in answer.said):
        return None  # it came to its last word: an import may end the process with any status
    begun = [said["begin"] for said in answer.said if "begin" in said]
    what = begun[-1] if begun else ""
    if answer.ended.status is None:
        return Attempt(what, f"it did not end within {seconds:g} seconds", unfinished=True)
    return Attempt(what, f"{answer.ended.how}")


def _framework(said: Mapping[str, Any]) -> Framework:
    devices = said.get("devices")
    return Framework(
        version=said["version"],
        cuda=said["cuda"],
        hip=said["hip"],
        available=said.get("available"),
        devices=None if devices is None else tuple(_device(each) for each in devices),
        peers=_peers(said),
        error=said.get("error"),
        built_for_cuda=said["built_for_cuda"],
    )


# -- judging -------------------------------------------------------------------------------------------------------


def _causes(case: Case) -> list[Cause]:
    """All that was found, in the order in which it would stop the path."""
    gone = list(packages.absent(case))
    found = [cause for cause in gone if cause.id != "too-old"]
    if not found:
        skews = list(packages.skews(case))
        raising = [cause for cause in skews if cause.weight is Weight.BLOCKS]
        found += imports.importing(case, [*gone, *raising, *imports.predicted(case)])
        if case.works:
            found += imports.calling(case)
        found += [cause for cause in skews if cause.weight is not Weight.BLOCKS]
    found += hardware.framework(case)
    found += hardware.devices(case)
    if not gone:
        found += kernels.kernels(case)
        found += packages.requirements(case)
        found += kernels.unrecorded(case)
    found += packages.records_amiss(case)
    found += imports.look_alikes(case)
    if not gone:
        found += kernels.contents(case)
        found += kernels.known(case)
    return found


def _ran(done: Run) -> list[Cause]:
    if done.unfinished:
        return [Cause("run-unfinished", Weight.OPEN, "whether the path runs: " + "; ".join(done.problems))]
    if done.problems:
        said = f"the path was run on {done.gpus} GPUs, and failed"
        return [Cause("run-fails", Weight.BLOCKS, said, done.problems)]
    return []


def _verdict(case: Case, done: Run | None, causes: list[Cause]) -> Verdict:
    weights = {cause.weight for cause in causes}
    if done is not None and not done.problems:
        state = State.ACTIVE
    elif Weight.BLOCKS in weights:
        state = State.CANNOT_RUN
    else:
        state = State.UNKNOWN if Weight.OPEN in weights else State.CAN_RUN
    order = list(Weight)
    # The root of a failed import is told before it.
    roots = {"cpu-build"} if any(_of_library(case, cause) for cause in causes) else set()
    causes = sorted(causes, key=lambda cause: (order.index(cause.weight), cause.id not in roots))
    versions = [(case.needs.distribution, case.version)]
    shown = (*(each.distribution for each in case.needs.companions.companions), *case.needs.shown)
    versions += [(name, ", ".join(case.facts.versions(name)) or None) for name in shown]
    return Verdict(
        case.needs.distribution,
        case.needs.feature,
        state,
        case.release,
        tuple(versions),
        case.trial,
        done,
        tuple(causes),
    )


def _of_library(case: Case, cause: Cause) -> bool:
    """Whether it failed over a library that a build of the framework would have brought."""
    return cause.id in ("import-fails", "call-fails") and any(name in cause.what for name in case.needs.libraries)
