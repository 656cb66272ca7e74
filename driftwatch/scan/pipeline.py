"""A scan from end to end: paths and histories in, findings and what they add up to out.

Enters: a `ScanRequest`. Leaves: a `Report` that holds all that any report needs. Nothing is printed, nobody exits,
no scanned code is run. The same files give the same result in any order and with any number of workers. What the user
got wrong is a `DriftwatchError`; what is wrong with one file is a diagnostic, and the scan goes on.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from driftwatch.errors import UsageError
from driftwatch.findings.finding import Finding, Verdict, judge, placed
from driftwatch.findings.passages import Passages
from driftwatch.findings.suppress import Decisions, read_baseline, sift
from driftwatch.flow.project import analyse
from driftwatch.flow.uses import Diagnostic, LookUse, SwitchedOff, Unresolved
from driftwatch.project import ranges
from driftwatch.project.config import Config
from driftwatch.project.declared import Requirements
from driftwatch.project.discovery import Found, Root, find_roots
from driftwatch.project.pins import installations
from driftwatch.project.python_files import PythonFiles
from driftwatch.project.variables import Variables
from driftwatch.project.version_checks import VersionChecks, first_word
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules import RULES, apply, apply_to_installations, told_once
from driftwatch.rules.advisories import load, within
from driftwatch.rules.recorded_kernels import with_recorded
from driftwatch.rules.rule import Context, Rule
from driftwatch.scan.report_model import Reached, Report, TargetReport, merged
from driftwatch.scan.selection import chosen_rules, codes_of, severities_of
from driftwatch.scan.sites import Site, site_order, sites_of
from driftwatch.scan.sources import Sources, lines_of
from driftwatch.snapshot.model.history import History
from driftwatch.system.deep_stack import on_deep_stack
from driftwatch.system.python_text import SourceError, decode, without_warnings
from driftwatch.targets.companions import load_companions

__all__ = ["Report", "ScanRequest", "TargetReport", "Watched", "scan"]


@dataclass(frozen=True, slots=True)
class Watched:
    """A library to hold the code against. `data` is the folder of what no signature shows, where there is one.

    `companions` are distributions that must be of the library's own version, `aliases` others that bring the same
    module, `carriers` packages that pin a release of it. `without_module` are releases that are known not to have the
    module; `unavailable` those that the code base asks for and that could not be had, each with the reason. `remark` is
    what a person must know of how the library was read, in words; `stale` says that the package index could not be
    reached, and this is what was known before.
    """

    history: History
    data: Path | None = None
    companions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()
    without_module: tuple[str, ...] = ()
    unavailable: tuple[tuple[str, str], ...] = ()
    remark: str = ""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What to scan, against what. Empty `against`, `select`, `ignore` and None for the rest mean: as configured.

    `base` is the folder that relative paths start at; None is the working folder. `progress` goes to the analysis.
    `find` looks for releases that the code base pins and that are not recorded, for this scan alone; `carried` says
    what a release of another package requires. `gpu` is a compute capability that calls are held against. `changed` are
    bytes to take for those of a file, by its absolute path: a scan of what a change would come to.
    """

    paths: tuple[Path, ...]
    targets: tuple[Watched, ...]
    config: Config = field(default_factory=Config)
    against: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: Path | None = None
    fail_on: str | None = None
    cache: Path | None = None
    progress: Callable[..., object] | None = None
    base: Path | None = None
    find: Callable[[Watched, tuple[str, ...]], Watched] | None = None
    gpu: tuple[int, int] | None = None
    carried: Callable[[str, str], tuple[str, ...]] | None = None
    changed: Mapping[str, bytes] = field(default_factory=dict)


@on_deep_stack
def scan(request: ScanRequest) -> Report:
    """Scan the paths of a request; for several modules of one distribution, once for each."""
    results = [_scan(replace(request, targets=layer), request) for layer in _layers(request.targets)]
    if not results:
        raise UsageError("there is no target to hold the code against")
    return results[0] if len(results) == 1 else merged(results)


def _layers(targets: Sequence[Watched]) -> list[tuple[Watched, ...]]:
    """The targets in groups, none of which has two modules of one distribution."""
    found: list[dict[str, Watched]] = []
    for target in targets:
        name = target.history.distribution
        layer = next((each for each in found if name not in each), None)
        if layer is None:
            found.append(layer := {})
        layer[name] = target
    return [tuple(layer.values()) for layer in found]


def _scan(request: ScanRequest, whole: ScanRequest) -> Report:
    """The scan of one layer of a whole request."""
    ranges.check_names(request.against, [each.history.distribution for each in whole.targets])
    config = request.config
    base = (request.base or Path.cwd()).resolve()
    chosen = chosen_rules(request.select, request.ignore, config)
    severities = severities_of(config)
    patterns = [(pattern, codes_of(codes, config)) for pattern, codes in config.per_file_ignores]
    baseline_path = request.baseline or config.baseline
    baseline = read_baseline(baseline_path) if baseline_path is not None else ()

    found = find_roots(request.paths, base=base, exclude=config.exclude, exclude_from=config.folder)
    roots = found.roots
    requirements = _requirements(request, found)
    _carry(request, requirements.values())
    request = replace(request, targets=_with_pinned(request, requirements.values()))
    histories = {target.history.distribution: target.history for target in request.targets}
    wanted = {target.history.distribution: _wanted(target, request, requirements) for target in request.targets}
    checked = {name: ranges.together(each.values()) for name, each in wanted.items()}
    remarks = {target.history.distribution: target.remark for target in request.targets}
    contexts = {
        target.history.distribution: Context(
            target.history,
            checked[target.history.distribution].releases,
            within(
                with_recorded(load(target.data, target.history.timeline), target.history),
                target.history.has_module(target.history.module),
            ),
            target.companions,
            load_companions(target.data),
            tuple(python for python in (each.python for each in requirements.values()) if python is not None),
            gpu=request.gpu,
            meant=ranges.written_for(target.history.distribution, target.history.timeline, requirements.values()),
        )
        for target in request.targets
    }
    asked = [
        each for context in contexts.values() for known in context.knowledge.advisories for each in known.conditions
    ]
    words = {*map(first_word, histories), *(each.variable for each in asked if each.variable)}
    verdicts: list[Verdict] = []
    unresolved: list[Unresolved] = []
    diagnostics = list(found.unread)
    files = analysed = 0
    touched: set[str] = set()
    uses: Counter[str] = Counter()
    sites: list[Site] = []
    reached: list[Reached] = []
    told: set[tuple[object, ...]] = set()
    apart: dict[str, Mapping[str, ReleaseSet]] = {}
    for root in roots:
        own = {name: _of_root(root, each, checked[name]) for name, each in wanted.items()}
        contexts = {name: replace(context, checked=own[name]) for name, context in contexts.items()}
        analysis = analyse(
            root.folder,
            root.files,
            tuple(histories.values()),
            cache=request.cache,
            progress=request.progress,
            changed=request.changed,
        )
        files += analysis.files
        analysed += analysis.analysed
        uses.update(use.distribution for use in analysis.uses if not isinstance(use, SwitchedOff | LookUse))
        texts = PythonFiles(
            {Path(each).relative_to(root.folder).as_posix(): each for each in root.files}, words, request.changed
        )
        variables, version_checks = Variables(texts), VersionChecks(texts, root.prefix)
        for context in contexts.values():
            context.variable = variables.touched
            context.version_checks = version_checks.of
        touched.update(root.prefix + use.location.path for use in analysis.uses)
        sites += sites_of(analysis.uses, root.prefix)
        of_uses = tuple(placed(verdict, root.prefix) for verdict in apply(analysis.uses, contexts, chosen))
        reached.append(Reached(root.prefix, analysis.uses, of_uses, contexts))
        found_here = [*of_uses, *_of_installations(root, contexts, chosen, requirements, told)]
        apart |= {verdict.location.path: own for verdict in found_here}
        verdicts += found_here
        unresolved += [replace(each, path=root.prefix + each.path) for each in analysis.unresolved]
        diagnostics += [replace(each, path=root.prefix + each.path) for each in analysis.diagnostics]
        diagnostics += _not_python(root, {each.path for each in diagnostics})

    timelines = {name: history.timeline for name, history in histories.items()}
    sets = {name: each.releases for name, each in checked.items()}
    sources = Sources(found.project, {str(path): lines_of(data) for path, data in request.changed.items()})
    sifted = sift(
        judge(told_once(verdicts), timelines, sets, severities, Passages(sources.lines), apart),
        touched,
        Decisions(
            texts=sources.text,
            timelines=timelines,
            checked=sets,
            codes=[rule.code for rule in RULES],
            names={rule.name: rule.code for rule in RULES},
            patterns=patterns,
            placed=_placing(sources, config),
            baseline=baseline,
            baseline_path=str(baseline_path) if baseline_path is not None else "",
            applied=[rule.code for rule in chosen],
            unseen=_unseen(roots, sources),
        ),
    )
    still_true = [*sifted.standing, *(each.finding for each in sifted.suppressed if each.by == "baseline")]
    return Report(
        targets=tuple(
            _fares(
                histories[name],
                _with_unread(checked[name], contexts[name], requirements),
                still_true,
                uses[name],
                sites,
                remarks[name],
            )
            for name in sorted(histories)
        ),
        findings=sifted.standing,
        suppressed=sifted.suppressed,
        idle=sifted.idle,
        unresolved=tuple(sorted(unresolved, key=lambda each: (each.path, each.line, each.reason))),
        diagnostics=tuple(sorted(set(diagnostics), key=lambda each: (each.path, each.line or 0, each.message))),
        files=files,
        analysed=analysed,
        sources=sources,
        fail_on=request.fail_on or config.fail_on,
        reached=tuple(reached),
        requirements=tuple(requirements.values()),
    )


# -- what applies ----------------------------------------------------------------------------------------------------


def _requirements(request: ScanRequest, found: Found) -> dict[Path, Requirements]:
    """What is declared round each folder that is scanned, and round each file that is named."""
    names = [
        name
        for target in request.targets
        for name in (target.history.distribution, *target.companions, *target.carriers)
    ]
    places = [path for root in found.roots for path in _places_of(root)]
    aliases = {alias: target.history.distribution for target in request.targets for alias in target.aliases}
    config = request.config
    return {
        place: Requirements(
            place,
            names,
            project=found.project,
            exclude=config.exclude,
            exclude_from=config.folder,
            aliases=aliases,
        )
        for place in dict.fromkeys(places)
    }


def _carry(request: ScanRequest, declared: Iterable[Requirements]) -> None:
    """Have the requirements know what comes with a pinned carrier, where the code base itself asks for no release."""
    if request.carried is None or request.against or request.config.against:
        return
    for requirements in declared:
        for target in request.targets:
            if not requirements.own(target.history.distribution):
                requirements.carry(target.history.distribution, target.carriers, request.carried)


def _with_pinned(request: ScanRequest, declared: Iterable[Requirements]) -> tuple[Watched, ...]:
    """The targets with the releases that the code base asks for, where it is what it declares that counts."""
    if request.find is None or request.against or request.config.against:
        return request.targets
    found: list[Watched] = []
    for target in request.targets:
        history = target.history
        own = (requirements.own(history.distribution) for requirements in declared)
        versions = dict.fromkeys(
            version
            for each in own
            for version in ranges.releases_not_known(history.timeline, each, target.without_module)
        )
        found.append(request.find(target, tuple(versions)) if versions else target)
    return tuple(found)


def _with_unread(
    checked: ranges.CheckedRange,
    context: Context,
    declared: Mapping[Path, Requirements],
) -> ranges.CheckedRange:
    """The range with the files that may declare something of the library, or of what comes with it, and are broken."""
    names = {canonicalize_name(name) for name in (context.history.distribution, *context.companions)}
    broken = [notice for requirements in declared.values() for notice in requirements.notices if notice.about in names]
    return replace(checked, notices=tuple(dict.fromkeys((*checked.notices, *broken))))


def _wanted(
    target: Watched, request: ScanRequest, declared: Mapping[Path, Requirements]
) -> dict[Path, ranges.CheckedRange]:
    """The range of one target round each place that is scanned."""
    config = request.config
    history = target.history
    found: dict[Path, ranges.CheckedRange] = {}
    for place, requirements in declared.items():
        one = ranges.choose(
            history.distribution,
            history.timeline,
            against=request.against,
            configured=config.against,
            configured_in=config.path.name if config.path is not None else "the configuration",
            requirements=requirements,
            unavailable=dict(target.unavailable),
        )
        found[place] = replace(one, source=f"{one.source}; {target.remark}") if target.remark else one
    return found


def _of_root(root: Root, wanted: Mapping[Path, ranges.CheckedRange], together: ranges.CheckedRange) -> ReleaseSet:
    """What the code below a root is held against: what is declared there, else what all places ask for."""
    own = ranges.together(wanted[place] for place in _places_of(root))
    return own.releases if own.declared else together.releases


def _places_of(root: Root) -> list[Path]:
    """Where a root's requirements are looked for: round the folder, or round each file that is named."""
    return [file.parent for file in root.named] or [root.folder]


def _placing(sources: Sources, config: Config) -> Callable[[str], str]:
    """How a path of a report looks from the configuration file, whose patterns are relative to its folder."""
    folder = config.folder

    def placed(shown: str) -> str:
        path = sources.path(shown)
        if folder is not None and path.is_relative_to(folder.resolve()):
            return path.relative_to(folder.resolve()).as_posix()
        return shown

    return placed


def _unseen(roots: Sequence[Root], sources: Sources) -> Callable[[str], bool]:
    """Whether a path of a report is that of a Python file that is there and that this scan did not look at."""
    seen = {path for root in roots for path in root.files}

    def unseen(shown: str) -> bool:
        path = sources.path(shown)
        return path.suffix == ".py" and str(path) not in seen and path.is_file()

    return unseen


def _of_installations(
    root: Root,
    contexts: Mapping[str, Context],
    chosen: Sequence[Rule],
    requirements: Mapping[Path, Requirements],
    told: set[tuple[object, ...]],
) -> Iterator[Verdict]:
    """What the rules say of how the project round a root is installed, but for what was `told` of another root.

    Files that are named stand for themselves alone.
    """
    if root.named:
        return
    for distribution, context in contexts.items():
        found = installations(requirements[root.folder], (distribution, *context.companions))
        for verdict in apply_to_installations(found, context, chosen):
            key = (verdict.location, verdict.code, verdict.symbol)
            if key not in told:
                told.add(key)
                yield verdict


# -- what comes out --------------------------------------------------------------------------------------------------


def _fares(
    history: History,
    checked: ranges.CheckedRange,
    findings: Sequence[Finding],
    uses: int,
    sites: Sequence[Site],
    remark: str,
) -> TargetReport:
    bare = TargetReport(
        distribution=history.distribution,
        module=history.module,
        timeline=history.timeline,
        checked=checked.releases,
        origin=checked.source,
        compatible=checked.releases,
        degraded=EMPTY,
        uses=uses,
        sites=tuple(sorted((site for site in sites if site.distribution == history.distribution), key=site_order)),
        notices=checked.notices,
        remark=remark,
        stand_in=checked.stand_in,
        history=history,
    )
    return bare.by(findings)


def _not_python(root: Root, told: set[str]) -> list[Diagnostic]:
    """Files that the user named and that are no Python; the analysis only looks at files that mention a target."""
    found: list[Diagnostic] = []
    for path in root.named:
        shown = root.prefix + path.relative_to(root.folder).as_posix()
        if shown in told:
            continue
        try:
            with without_warnings():
                ast.parse(decode(path.read_bytes()))
        except OSError as error:
            found.append(Diagnostic(shown, None, f"the file cannot be read: {error.strerror or error}", mentions=False))
        except SourceError as error:
            found.append(Diagnostic(shown, error.line, f"not Python: {error.message}", mentions=False))
        except SyntaxError as error:
            found.append(Diagnostic(shown, error.lineno, f"not Python: {error.msg}", mentions=False))
        except (ValueError, RecursionError, MemoryError) as error:
            found.append(Diagnostic(shown, None, f"not Python that can be parsed: {error}", mentions=False))
    return found
