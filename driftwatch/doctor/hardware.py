"""Causes in the framework's build, the driver and the GPUs.

Enters: a case. Leaves: causes. The framework's word counts, since the library asks no other; then the driver's own
library; then nvidia-smi. What none of them says is not known, and is no reason to say that the path cannot run.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from driftwatch.doctor.case import Case
from driftwatch.doctor.model import Cause, Device, Weight
from driftwatch.releases import union

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_NONE = ("", "-1", "NoDevFiles", "void", "none")


def framework(case: Case) -> Iterator[Cause]:
    """What the framework is built for, and whether it sees a GPU at all."""
    name = case.needs.framework
    if name is None:
        return
    trial = case.trial
    found = trial.framework if trial is not None else None
    if found is None:
        yield from _framework_unasked(case, name)
        return
    called = f"{name} {found.version or 'of unknown version'}"
    if found.hip:
        yield Cause("other-build", Weight.BLOCKS, f"{called} is built for ROCm {found.hip}", defect=True)
    elif found.built_for_cuda is False:
        yield _cpu_build(case, called, f"{name}.version.cuda is None")
    elif found.available is False or found.devices == ():
        yield _sees_none(case, called)
    elif found.available is None:
        said = f"whether {called} sees a GPU: {found.error or 'it does not say'}"
        yield Cause("framework-silent", Weight.OPEN, said)


def _framework_unasked(case: Case, name: str) -> Iterator[Cause]:
    versions = case.facts.versions(name)
    if len(versions) == 1 and versions[0].partition("+")[2] == "cpu":
        yield _cpu_build(case, f"{name} {versions[0]}", "its version says so")
        return
    trial = case.trial
    why = trial.framework_error if trial is not None else "it was not asked"
    yield Cause("framework-unasked", Weight.OPEN, f"what {name} sees: {why or 'it did not come to that'}")


def _cpu_build(case: Case, called: str, seen: str) -> Cause:
    there = listed(case)
    evidence = [seen]
    if there:
        evidence.append(f"{len(there)} GPU{'s are' if len(there) > 1 else ' is'} there: {', '.join(_names(there))}")
    fix = case.remedies.framework(case.driver_cuda)
    return Cause("cpu-build", Weight.BLOCKS, f"{called} is built without CUDA", tuple(evidence), fix, bool(there))


def _sees_none(case: Case, called: str) -> Cause:
    facts, trial = case.facts, case.trial
    found = trial.framework if trial is not None else None
    hidden = facts.variables.get(_VISIBLE)
    evidence = [found.error] if found is not None and found.error else []
    if hidden is not None and hidden.strip() in _NONE:
        said = f"{_VISIBLE}={hidden!r} hides every GPU from {called}"
        return Cause("hidden", Weight.BLOCKS, said, tuple(evidence), (f"unset {_VISIBLE}",))
    cuda = found.cuda if found is not None else None
    served = case.driver_cuda
    if cuda and served and Version(cuda).major > Version(served).major:
        said = f"{called} is built for CUDA {cuda}, and the driver serves {served} at most"
        return Cause(
            "driver-too-old", Weight.BLOCKS, said, tuple(evidence), case.remedies.framework(served), defect=True
        )
    notes = [note for note in (facts.driver.note, facts.smi.note) if note]
    fix = ("docker run --gpus all ...",) if facts.driver.note and not listed(case) else ()
    return Cause("no-gpu", Weight.BLOCKS, f"{called} sees no GPU", (*evidence, *notes), fix)


def listed(case: Case) -> tuple[Device, ...]:
    """The GPUs that the driver or its tool lists."""
    return case.facts.driver.devices or case.facts.smi.devices or ()


def visible(case: Case) -> tuple[Device, ...] | None:
    """The GPUs that count: those that the framework sees, else those that the driver does; None is not known."""
    trial = case.trial
    seen = trial.framework.devices if trial is not None and trial.framework is not None else None
    if seen:
        # The driver knows of them what the framework does not say.
        known = {device.index: device for device in case.facts.driver.devices or ()}
        same = len(known) == len(seen)
        return tuple(
            Device(
                d.index,
                d.name,
                d.capability or (known[d.index].capability if same else None),
                d.memory,
                known[d.index].multicast if same else None,
            )
            for d in seen
        )
    for found in (case.facts.driver.devices, case.facts.smi.devices):
        if found is not None:
            return found
    return None


def devices(case: Case) -> Iterator[Cause]:
    """Whether there are GPUs, enough of them, that the release serves, and that reach each other."""
    needs = case.needs
    if not needs.kernels_of and not needs.group_sizes:
        return
    found = visible(case)
    trial = case.trial
    asked = trial.framework if trial is not None else None
    if asked is not None and (asked.built_for_cuda is False or asked.hip or asked.available is False):
        # That is told already, and of other GPUs nothing follows.
        found = listed(case) or None
        if found is None:
            return
    if found is None:
        why = "; ".join(note for note in (case.facts.smi.note, case.facts.driver.note) if note)
        yield Cause("gpus-unknown", Weight.OPEN, f"which GPUs there are: {why or 'nobody says'}")
        return
    if not found:
        yield Cause("no-gpu", Weight.BLOCKS, "the driver lists no GPU")
        return
    served: list[Device] = []
    for cause, device in _served(case, found):
        if cause is not None:
            yield cause
        if device is not None:
            served.append(device)
    yield from _group(case, found, served)


def _served(case: Case, found: tuple[Device, ...]) -> Iterator[tuple[Cause | None, Device | None]]:
    """Each GPU that the release serves, or may serve; and causes for the others."""
    needs = case.needs
    if not needs.kernels_of:
        yield from ((None, device) for device in found)
        return
    listed_for = case.kernels
    here = [each for each in listed_for if not each.releases.isdisjoint(case.here)]
    if not here and (case.here or case.release is None or case.recorded is None):
        # Of a release that is not recorded it is told that nothing of it is known.
        said = f"which GPUs {case.named} serves"
        yield Cause("gpus-served", Weight.OPEN, said), None
    others: dict[str, list[str]] = {}
    for device in found:
        if device.capability is None:
            said = f"the compute capability of GPU {device.index} ({device.name})"
            yield Cause("capability-unknown", Weight.OPEN, said), device
        elif not here or all(each.are_for(_parts(device.capability)) for each in here):
            yield None, device
        else:
            others.setdefault(device.capability, []).append(device.index)
    for capability, indices in others.items():
        wanted = " or ".join(dict.fromkeys(_shown(one) for each in here for one in each.compute))
        some = union([each.releases for each in listed_for if each.are_for(_parts(capability))])
        fixed = case.fixed_in(case.recorded.timeline.all - some) if case.recorded is not None and some else None
        weight = Weight.BLOCKS if len(found) - len(indices) < min(needs.group_sizes, default=1) else Weight.NOTE
        said = f"GPU {', '.join(indices)} has compute capability {capability}; {case.named} serves {wanted}"
        evidence = () if some else ("no recorded release serves it",)
        yield Cause("capability", weight, said, evidence, (case.remedies.own(fixed),) if fixed else ()), None


def _parts(capability: str) -> tuple[int, int]:
    major, _, minor = capability.partition(".")
    return int(major), int(minor or 0)


def _shown(compute: str) -> str:
    return compute if "." in compute else f"{compute}.x"


def _group(case: Case, found: tuple[Device, ...], served: list[Device]) -> Iterator[Cause]:
    """Whether a group can be made of these GPUs."""
    sizes = case.needs.group_sizes
    if not sizes:
        return
    if len(found) < min(sizes):
        yield _alone(case, found)
        return
    if len(served) < min(sizes):
        return
    trial = case.trial
    asked = trial.framework.peers if trial is not None and trial.framework is not None else None
    peers = asked or case.facts.driver.peers
    if not peers:
        yield Cause("peers-unknown", Weight.OPEN, "whether the GPUs reach each other's memory")
        return
    good = {device.index for device in served}
    reached = {(one, other): yes for one, other, yes in peers if str(one) in good and str(other) in good}
    apart = sorted({tuple(sorted(pair)) for pair, yes in reached.items() if not yes})
    if apart and not any(reached.values()):
        said = "no GPU reaches the memory of another (peer access), which a group of them needs"
        yield Cause(
            "no-peers", Weight.BLOCKS, said, (f"connected by {case.facts.smi.links}",) if case.facts.smi.links else ()
        )
    elif apart:
        pairs = ", ".join(f"{one} and {other}" for one, other in apart[:6])
        yield Cause(
            "some-peers",
            Weight.NOTE,
            f"GPUs without access to each other's memory: {pairs}; a group of these cannot be made",
        )


def _alone(case: Case, found: tuple[Device, ...]) -> Cause:
    """One GPU: a group may still be made with those that other processes or machines have."""
    sizes = case.needs.group_sizes
    wanted = f"{', '.join(map(str, sizes[:-1]))} or {sizes[-1]}"
    machine = case.facts.smi.devices or ()
    hidden = case.facts.variables.get(_VISIBLE)
    if len(machine) > len(found) and hidden is not None:
        said = f"this process sees {len(found)} of {len(machine)} GPUs; others may make a group with it"
        return Cause(
            "sees-some", Weight.OPEN, said, (f"{_VISIBLE}={hidden}",), (f"env -u {_VISIBLE} driftwatch doctor",)
        )
    said = f"a group takes {wanted} GPUs, and there is {len(found)}"
    fabric = case.facts.smi.fabric if case.facts.smi.note is None else case.facts.driver.fabric
    if fabric:
        return Cause(
            "alone", Weight.OPEN, f"{said}; it is part of an NVLink fabric, whose other machines are not seen from here"
        )
    if fabric is None and case.facts.smi.note is not None and case.facts.driver.note is not None:
        return Cause("alone", Weight.OPEN, f"{said}; whether it is part of an NVLink fabric is not known")
    return Cause("alone", Weight.BLOCKS, said)


def _names(found: tuple[Device, ...]) -> list[str]:
    return list(dict.fromkeys(device.name for device in found if device.name))
