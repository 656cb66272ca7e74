"""What an environment has, and whether the library's accelerated path can run in it.

Enters: a Python interpreter (by default the running one) and what the targets say they need. Leaves: an `Examination`,
as data. Nothing of the library is imported in this process; with `attempt_import` it is imported in one of its own,
whose death is an answer too. What cannot be found out is said to be unknown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from driftwatch.children import program, python_command, python_environment
from driftwatch.errors import InputError
from driftwatch.targets.target import Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PROBE_SECONDS = 30
_IMPORT_SECONDS = 300
_GPU_QUERY = ("index", "name", "compute_cap", "driver_version", "memory.total")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a target says of the environments it runs in; `hardware` is (specifier, compute capability majors)."""

    distribution: str
    module: str
    feature: str
    companions: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    hides_mismatch: str | None = None
    group_sizes: tuple[int, ...] = ()
    hardware: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Gpu:
    index: str
    name: str
    capability: str
    driver: str
    memory: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """What importing a module did: `error` is None when it worked."""

    module: str
    error: str | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target in this environment.

    `problems` are defects of what is installed. `obstacles` are why the feature cannot run here, `unknown` what would
    have to be found out before one could say that it can. `versions` has the distribution first.
    """

    distribution: str
    feature: str
    versions: tuple[tuple[str, str | None], ...]
    attempt: Attempt | None
    problems: tuple[str, ...]
    obstacles: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Examination:
    python: str
    executable: str
    platform: str
    gpus: tuple[Gpu, ...]
    gpu_note: str | None
    verdicts: tuple[Verdict, ...]

    @property
    def healthy(self) -> bool:
        return not any(verdict.problems for verdict in self.verdicts)


def needs_of(target: Target) -> Needs:
    """What a target needs: its companions, and what its ``environment.toml`` says where it has one."""
    data: dict[str, Any] = {}
    file = target.data / "environment.toml" if target.data else None
    if file is not None and file.is_file():
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Needs(
        distribution=target.distribution,
        module=target.module,
        feature=data.get("feature", target.module),
        companions=target.companions,
        shown=tuple(data.get("shown", ())),
        hides_mismatch=data.get("hides_mismatch"),
        group_sizes=tuple(data.get("group_sizes", ())),
        hardware=tuple((row["releases"], tuple(row["capability_majors"])) for row in data.get("hardware", ())),
    )


def examine(
    needs: Iterable[Needs],
    known: Mapping[str, tuple[str, ...]],
    *,
    python: str | None = None,
    attempt_import: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Examination:
    """Look at an environment. `known` are the releases that have a snapshot, by distribution."""
    wanted = tuple(needs)
    interpreter = python or sys.executable
    names = [name for need in wanted for name in (need.distribution, *need.companions, *need.shown)]
    facts = _probe(interpreter, names, [], _PROBE_SECONDS)
    if isinstance(facts, str):
        raise InputError(f"{interpreter!r} cannot be asked what it has: {facts}", "--python takes a Python interpreter")
    gpus, note = _gpus()
    verdicts: list[Verdict] = []
    for need in wanted:
        attempt = None
        if attempt_import and facts["versions"][need.distribution] is not None:
            attempt = _attempt(interpreter, need.module)
        versions = tuple((name, facts["versions"][name]) for name in (need.distribution, *need.companions, *need.shown))
        verdicts.append(_verdict(need, versions, attempt, gpus, note, known.get(need.distribution, ()), environment))
    return Examination(facts["python"], facts["executable"], facts["platform"], gpus, note, tuple(verdicts))


# -- asking --------------------------------------------------------------------------------------------------------


def _probe(python: str, distributions: list[str], modules: list[str], seconds: float) -> dict[str, Any] | str:
    """The probe's answer, or why there is none."""
    source = resources.files("driftwatch").joinpath("doctor_probe.py").read_text(encoding="utf-8")
    try:
        result = subprocess.run(
            python_command(python, source),
            input=json.dumps({"distributions": distributions, "modules": modules}),
            capture_output=True,
            text=True,
            errors="replace",
            env=python_environment(),
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {seconds:g} seconds"
    except OSError as error:
        return error.strerror or type(error).__name__
    if result.returncode:
        last = result.stderr.strip().splitlines()
        how = f"it died of signal {-result.returncode}" if result.returncode < 0 else f"exit status {result.returncode}"
        return f"{how}: {last[-1]}" if last else how
    try:
        answer = json.loads(result.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return "it did not answer as a Python interpreter would"
    assert isinstance(answer, dict)
    return answer


def _attempt(python: str, module: str) -> Attempt:
    answer = _probe(python, [], [module], _IMPORT_SECONDS)
    if isinstance(answer, str):
        return Attempt(module, answer, None)
    done = answer["imports"][0]
    error = done["error"]
    said = None if error is None else f"{error['type']}: {error['message']}".rstrip(": ")
    return Attempt(module, said, done["seconds"])


def _gpus() -> tuple[tuple[Gpu, ...], str | None]:
    """The GPUs that the driver's own tool lists; else none, and why."""
    tool = program("nvidia-smi")
    if tool is None:
        return (), "nvidia-smi is not there, so no NVIDIA driver seems to be"
    try:
        result = subprocess.run(
            [tool, f"--query-gpu={','.join(_GPU_QUERY)}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return (), f"{Path(tool).name} does not answer"
    if result.returncode:
        said = (result.stdout + result.stderr).strip().splitlines()
        return (), f"{Path(tool).name} fails: {said[0] if said else result.returncode}"
    rows = [[part.strip() for part in line.split(",")] for line in result.stdout.splitlines() if line.strip()]
    found = tuple(Gpu(*row) for row in rows if len(row) == len(_GPU_QUERY))
    return found, None if found else "the driver lists no GPU"


# -- judging -------------------------------------------------------------------------------------------------------


def _verdict(
    need: Needs,
    versions: tuple[tuple[str, str | None], ...],
    attempt: Attempt | None,
    gpus: tuple[Gpu, ...],
    gpu_note: str | None,
    known: tuple[str, ...],
    environment: Mapping[str, str],
) -> Verdict:
    installed = dict(versions)
    version = installed[need.distribution]
    problems: list[str] = []
    obstacles: list[str] = []
    unknown: list[str] = []
    if version is None:
        obstacles.append(f"{need.distribution} is not installed")
    else:
        problems += _skew(need, installed, version)
        if not any(_public(version) == _public(release) for release in known):
            unknown.append(f"{need.distribution} {version} has no snapshot: only its live signatures can tell")
        if attempt is None:
            unknown.append(f"whether `import {need.module}` works: --import tries it")
        elif attempt.error is not None:
            problems.append(f"`import {need.module}` raises {attempt.error}")
    if need.hides_mismatch and environment.get(need.hides_mismatch):
        unknown.append(f"{need.hides_mismatch} is set, which hides a mismatch of packages")
    if need.hardware and not gpus:
        obstacles.append(gpu_note or "no GPU is listed")
    elif need.hardware:
        if not _majors(need, version):
            unknown.append(f"which GPUs {need.distribution} {version} serves")
        obstacles += _hardware(need, gpus, version)
    return Verdict(
        need.distribution, need.feature, versions, attempt, tuple(problems), tuple(obstacles), tuple(unknown)
    )


def _skew(need: Needs, installed: Mapping[str, str | None], version: str) -> list[str]:
    return [
        f"{companion} is {other}, but {need.distribution} is {version}: they must be the same release"
        for companion in need.companions
        if (other := installed[companion]) is not None and _public(other) != _public(version)
    ]


def _hardware(need: Needs, gpus: tuple[Gpu, ...], version: str | None) -> list[str]:
    found: list[str] = []
    majors = _majors(need, version)
    for gpu in gpus:
        if majors and gpu.capability.partition(".")[0] not in {str(major) for major in majors}:
            wanted = " or ".join(f"{major}.x" for major in majors)
            found.append(f"GPU {gpu.index} ({gpu.name}) has compute capability {gpu.capability}, not {wanted}")
    if need.group_sizes and len(gpus) < min(need.group_sizes):
        sizes = ", ".join(str(size) for size in need.group_sizes[:-1])
        found.append(f"a group takes {sizes} or {need.group_sizes[-1]} GPUs; this machine lists {len(gpus)}")
    return found


def _majors(need: Needs, version: str | None) -> tuple[int, ...]:
    """The compute capabilities that a release serves; of an unknown release, those that any does."""
    if version is not None:
        try:
            # A pre-release serves what its release will; a post-release what its release did.
            base = Version(version).base_version
        except ValueError:
            return ()
        for specifier, majors in need.hardware:
            if SpecifierSet(specifier).contains(base):
                return majors
        return ()
    return tuple(sorted({major for _, majors in need.hardware for major in majors}))


def _public(version: str) -> str:
    """A version without its local part, in its normal form; one that is none is compared as it is."""
    try:
        return Version(version).public
    except ValueError:
        return version
