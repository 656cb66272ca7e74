"""Repairs from end to end: planned, proven, and only then offered.

Enters: a `ScanRequest`. Leaves: a `Fixed`: repairs that have stood the proof, the files as they would be, and a reason
for every finding that stays. Nothing is written here, and nothing of the project is run.

The proof is a scan of the changed text. In every checked release the findings that a repair is for are gone and no
other has come; each call that could be bound before is still reached, with the same arguments; nothing more is
unresolved. A repair that does not stand it is dropped, and the rest is proven again.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from packaging.utils import canonicalize_name

from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.rules import DROP
from driftwatch.binding.calls import parts
from driftwatch.findings.finding import Finding, Severity, judge, order
from driftwatch.findings.passages import Passages
from driftwatch.findings.suppress import matches
from driftwatch.flow.uses import Argument, CallUse, Outcome
from driftwatch.project.declared import Declaration
from driftwatch.project.style import line_width
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.repair.bounds import Raised, rewritten
from driftwatch.repair.described import described
from driftwatch.repair.evidence import Evidence, moved
from driftwatch.repair.losses import Losses, Row, releases_of
from driftwatch.repair.model import Changed, Fix, NoRepairError, Offer, Refusal, Repair, Safety
from driftwatch.repair.plan import CODES, Plan, Planner
from driftwatch.repair.probes import edits_of
from driftwatch.repair.text import Source
from driftwatch.rules import RULES
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from driftwatch.scan.selection import codes_of
from driftwatch.snapshot.model.symbols import Signature
from driftwatch.system.deep_stack import on_deep_stack
from driftwatch.system.python_text import without_warnings

_ABOUT_NAMES = ("DW201", "DW202", "DW203")
"""Said of each place that a name is read at: who asks a function something reads it once more."""
_ABOUT_HANDLERS = ("DW501", "DW502")
_ABOUT_WORKING_CALLS = ("DW401",)
"""Said of a call that is carried out, so that it may be said of one that failed before."""
ROUNDS = 6
"""How often what is left is proven again, before the files in question are given up."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Requirements that select releases that work. `files` are before and after; `refused` say why not."""

    files: Mapping[Path, tuple[bytes, bytes]]
    changed: tuple[Raised, ...] = ()
    refused: tuple[tuple[Declaration, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is offered, with the scan of the files as they are and as they would be."""

    before: Report
    after: Report
    offer: Offer


def pins(result: Report) -> Pins:
    """The declared requirements on libraries that are used here, made of releases that work as the code is now."""
    files: dict[Path, tuple[bytes, bytes]] = {}
    changed: list[Raised] = []
    refused: list[tuple[Declaration, str]] = []
    for target in result.targets:
        if not target.broken or not target.compatible:
            continue
        declared = [
            each
            for requirements in result.requirements
            for sheet in (requirements.own(target.distribution), *requirements.sheets[0], *requirements.sheets[1])
            for each in sheet
            if each.distribution == canonicalize_name(target.distribution)
        ]
        found = rewritten(declared, result.sources.project, target.timeline, target.compatible, files)
        changed += found[0]
        refused += found[1]
    return Pins(files, tuple(changed), tuple(refused))


def prospects(result: Report, targets: Iterable[Watched]) -> tuple[int, int]:
    """For how many findings of a scan there is a repair that can be proven, and how many more unsafe ones.

    Nothing is proven here: it takes no second scan.
    """
    findings = [each for each in _worth_it(result, sorted(CODES)) if each.severity is not Severity.NOTE]
    if not findings:
        return 0, 0
    source = _sources(result)
    planned = [_planner(result, targets, unsafe, source).plan(findings).repairs for unsafe in (False, True)]
    safe, every = (len({finding for repair in repairs for finding in repair.findings}) for repairs in planned)
    return safe, every - safe


@on_deep_stack
def fixes(request: ScanRequest, before: Report) -> Mapping[str, Fix]:
    """What can be offered for the findings of a scan, by fingerprint, all of it proven together."""
    return described(fix(request, unsafe=True, before=before).offer.files, _sources(before))


@on_deep_stack
def fix(
    request: ScanRequest, *, select: Sequence[str] = (), unsafe: bool = False, before: Report | None = None
) -> Fixed:
    """Plan, prove, and offer what has stood the proof; `before` is the scan of the request, where there is one."""
    before = before or scan(request)
    findings = _worth_it(before, codes_of(select, None))
    planner = _planner(before, request.targets, unsafe)
    source = planner.source
    for further in reversed(range(ROUNDS)):
        plan = planner.plan(findings)
        files = _written(plan, source, before)
        if not files:
            return Fixed(before, before, Offer(findings, (), tuple(plan.refusals)))
        after = scan(replace(request, changed={str(file.place): file.after for file in files}))
        failures = _Proof(before, after).failures(plan.repairs)
        if not failures:
            if further and planner.settle(_gone(plan.refusals, after)):
                continue
            files, plan.refusals = _along(files, plan.refusals, after)
            return Fixed(before, after, Offer(findings, files, tuple(plan.refusals)))
        _give_up(planner, failures)
    blamed = {finding.location.path for repair, _ in failures for finding in repair.findings}
    for finding in findings:
        if finding.location.path in blamed:
            planner.refused.setdefault(finding.fingerprint, "no repair of this file stood the proof")
    plan = planner.plan(findings)
    files = _written(plan, source, before)
    after = scan(replace(request, changed={str(file.place): file.after for file in files}))
    if _Proof(before, after).failures(plan.repairs):
        reason = "what is offered must stand the proof together, and did not"
        return Fixed(before, before, Offer(findings, (), tuple(Refusal(finding, reason) for finding in findings)))
    return Fixed(before, after, Offer(findings, files, tuple(plan.refusals)))


def _along(
    files: tuple[Changed, ...], refusals: list[Refusal], after: Report
) -> tuple[tuple[Changed, ...], list[Refusal]]:
    """What goes away with a repair of something else goes away by it."""
    gone = _gone(refusals, after)
    found: list[Changed] = []
    for file in files:
        first, *others = file.repairs
        own = tuple(finding for finding in gone if finding.location.path == file.path)
        found.append(replace(file, repairs=(replace(first, findings=(*first.findings, *own)), *others)))
    paths = {file.path for file in files}
    return tuple(found), [r for r in refusals if r.finding not in gone or r.finding.location.path not in paths]


def _gone(refusals: Iterable[Refusal], after: Report) -> list[Finding]:
    """What has no repair of its own, and is not said any more."""
    still = {_subject(finding) for finding in _told(after)}
    return [each.finding for each in refusals if _subject(each.finding) not in still]


def _sources(result: Report) -> Callable[[str], Source]:
    known: dict[str, Source] = {}

    def source(path: str) -> Source:
        if path not in known:
            place = result.sources.path(path)
            try:
                data = place.read_bytes()
            except OSError as error:
                raise NoRepairError(f"{path} cannot be read") from error
            known[path] = Source(path, data, line_width(place))
        return known[path]

    return source


def _planner(
    result: Report, targets: Iterable[Watched], unsafe: bool, source: Callable[[str], Source] | None = None
) -> Planner:
    evidence = Evidence()
    for reached in result.reached:
        evidence.contexts.update(reached.contexts)
        evidence.add(reached.prefix, reached.uses)
    return Planner(source or _sources(result), evidence, _losses(targets), unsafe)


def _give_up(planner: Planner, failures: Iterable[tuple[Repair, str]]) -> None:
    """Try another way where there is one, else none.

    What is blamed beside a repair that has another way is not given up before that has been tried.
    """
    blamed = [(repair, reason, _asks_a_known_flag(repair)) for repair, reason in failures]
    other_way = {repair.path for repair, _, has_other in blamed if has_other}
    for repair, reason, has_other in blamed:
        for finding in repair.findings:
            if has_other:
                planner.tried[finding.fingerprint] += 1
            elif repair.path not in other_way:
                planner.refused[finding.fingerprint] = f"the repair did not stand the proof: {reason}"


def _asks_a_known_flag(repair: Repair) -> bool:
    return any(probe.flag is not None and not probe.after for probe in repair.probes)


def _worth_it(result: Report, codes: Sequence[str]) -> tuple[Finding, ...]:
    """The findings that somebody may want to go away: not what is guarded, and not what is beyond the range."""
    once = {rule.code for rule in RULES if rule.once}
    told = {(finding.code, finding.distribution, finding.symbol) for finding in result.findings}
    # What is told once holds of all its places, and is gone when none is left.
    everywhere = [
        finding
        for finding in (_told(result) if any(code in once for code, _, _ in told) else ())
        if finding.code in once and (finding.code, finding.distribution, finding.symbol) in told
    ]
    return tuple(
        finding
        for finding in sorted((*(f for f in result.findings if f.code not in once), *everywhere), key=order)
        if finding.releases
        and finding.outcome is not Outcome.GUARDED
        and (finding.severity is not Severity.NOTE or finding.code in ("DW501", "DW502"))
        and (not codes or matches(finding.code, codes))
    )


def _losses(targets: Iterable[Watched]) -> dict[str, Losses]:
    """What the policies of the targets say."""
    found: dict[str, Losses] = {}
    for target in targets:
        path = target.data / "policy.toml" if target.data is not None else None
        if path is None or not path.is_file():
            continue
        found[target.history.distribution] = Losses(
            tuple(
                Row(
                    rule.functions,
                    rule.parameters,
                    rule.action == DROP,
                    rule.because,
                    rule.equals,
                    rule.given,
                    rule.condition is not None,
                    releases_of(rule.releases, target.history.timeline),
                )
                for rule in load_policy(path).rules
                if not rule.taken
            )
        )
    return found


# -- what the files would be -----------------------------------------------------------------------------------------


def _written(plan: Plan, source: Callable[[str], Source], before: Report) -> tuple[Changed, ...]:
    by_path: dict[str, list[Repair]] = {}
    for repair in plan.repairs:
        by_path.setdefault(repair.path, []).append(repair)
    files: list[Changed] = []
    for path, repairs in sorted(by_path.items()):
        try:
            one = source(path)
            data = one.changed(edits_of(one, repairs))
            with without_warnings():
                compile(one.raw(data), path, "exec", dont_inherit=True)
        except (NoRepairError, SyntaxError) as error:
            plan.refusals += [Refusal(finding, str(error)) for repair in repairs for finding in repair.findings]
            plan.repairs = [repair for repair in plan.repairs if repair.path != path]
            continue
        files.append(
            Changed(path, before.sources.path(path), one.data, data, (one.raw(one.data), one.raw(data)), tuple(repairs))
        )
    return tuple(files)


# -- the proof ---------------------------------------------------------------------------------------------------------


class _Proof:
    """Two scans held against each other."""

    def __init__(self, before: Report, after: Report) -> None:
        self._before, self._after = before, after
        self._then, self._now = _told(before), _told(after)

    def failures(self, repairs: Sequence[Repair]) -> list[tuple[Repair, str]]:
        """The repairs that must not be offered, each with the reason."""
        found: dict[int, tuple[Repair, str]] = {}

        def blame(path: str, reason: str, symbol: str = "", way: Sequence[str] = ()) -> None:
            # The repairs of the file, else of the files on the way to it, else those that change what is caught.
            own = [repair for repair in repairs if repair.path == path]
            own = own or [repair for repair in repairs if repair.path in way]
            own = own or _nearest(path, [r for r in repairs if any(f.code in _ABOUT_HANDLERS for f in r.findings)])
            own = own or list(repairs)
            near = [repair for repair in own if symbol and any(f.symbol == symbol for f in repair.findings)]
            for repair in near or own:
                found.setdefault(id(repair), (repair, reason))

        targets = Counter(_subject(finding) for repair in repairs for finding in repair.findings)
        now: dict[tuple[str, ...], list[Finding]] = {}
        for finding in self._now:
            now.setdefault(_subject(finding), []).append(finding)
        then: dict[tuple[str, ...], list[Finding]] = {}
        for finding in self._then:
            then.setdefault(_subject(finding), []).append(finding)
        for subject, findings in now.items():
            if subject[0] in _ABOUT_WORKING_CALLS and self._is_let_on(findings, repairs):
                continue
            known = then.get(subject, [])
            again = known and not targets[subject] and subject[0] in _ABOUT_NAMES
            if len(findings) > len(known) - targets[subject] and not again:
                first = findings[0]
                gone = bool(targets[subject])
                way = [step.path for each in findings for step in each.trace]
                blame(first.location.path, f"{first.code} {'would stay' if gone else 'would come'}", first.symbol, way)
            elif any(not any(_covers(old, new) for old in known) for new in findings):
                blame(findings[0].location.path, f"{findings[0].code} would be of more releases", findings[0].symbol)
        for path, line, reason in _more(self._before, self._after):
            blame(path, f"line {line} could not be followed any more: {reason}")
        for path, callee in self._lost(repairs):
            blame(path, f"a call of `{callee}` that works would not be reached with the same arguments", callee)
        return list(found.values())

    def _is_let_on(self, findings: Sequence[Finding], repairs: Sequence[Repair]) -> bool:
        """Whether what is said of a call is said of releases in which it failed, and an unsafe repair lets it go on."""
        failed = EMPTY
        for repair in repairs:
            for finding in repair.findings:
                if repair.safety is Safety.UNSAFE and finding.symbol == findings[0].symbol:
                    failed |= finding.releases
        known = [each for each in self._then if _subject(each) == _subject(findings[0])]
        for each in known:
            failed |= each.releases
        return all(each.releases <= failed for each in findings)

    def _lost(self, repairs: Sequence[Repair]) -> list[tuple[str, str]]:
        """Calls that can be bound before, and are not reached with the same arguments after."""
        instead = dict(pair for repair in repairs for pair in repair.stands_for)
        renamed = {(symbol, old): new for symbol, old, new in (r.renamed for r in repairs if r.renamed is not None)}
        then, now = _bound(self._before, instead, renamed), _bound(self._after, instead, renamed)
        own = {
            context.history.module.partition(".")[0] for r in self._before.reached for context in r.contexts.values()
        }
        return [
            key
            for key, shapes in then.items()
            # What the library itself has from elsewhere, and is imported from there now, is not followed there.
            if key[1].partition(".")[0] in own
            and any(not releases <= now.get(key, {}).get(shape, EMPTY) for shape, releases in shapes.items())
        ]


def _nearest(path: str, repairs: Sequence[Repair]) -> list[Repair]:
    """The repairs of the files that lie nearest to a file."""
    shared = [
        sum(1 for _ in takewhile(_same, zip(repair.path.split("/"), path.split("/"), strict=False)))
        for repair in repairs
    ]
    return [repair for repair, number in zip(repairs, shared, strict=True) if number == max(shared)]


def _same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _told(result: Report) -> list[Finding]:
    """All that the rules say but for what is guarded, before anything is left out, once for each place."""
    contexts = {name: context for reached in result.reached for name, context in reached.contexts.items()}
    found = judge(
        (verdict for reached in result.reached for verdict in reached.verdicts),
        {name: context.history.timeline for name, context in contexts.items()},
        {name: context.checked for name, context in contexts.items()},
        passages=Passages(result.sources.lines),
    )
    return [each for each in found if each.releases and each.outcome is not Outcome.GUARDED]


def _subject(finding: Finding) -> tuple[str, ...]:
    return (finding.code, finding.distribution, finding.location.path, finding.symbol, finding.parameter or "")


def _covers(old: Finding, new: Finding) -> bool:
    return new.releases <= old.releases


def _more(before: Report, after: Report) -> list[tuple[str, int, str]]:
    """What is unresolved after and was not before."""
    then = Counter((each.path, each.reason) for each in before.unresolved)
    found = []
    for each in after.unresolved:
        key = (each.path, each.reason)
        then[key] -= 1
        if then[key] < 0:
            found.append((each.path, each.line, each.reason))
    told = {(each.path, each.message) for each in before.diagnostics}
    return found + [(d.path, d.line or 1, d.message) for d in after.diagnostics if (d.path, d.message) not in told]


Shape = tuple[object, ...]


def _bound(
    result: Report, instead: Mapping[str, str], renamed: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], dict[Shape, ReleaseSet]]:
    """By file and callee, what calls pass, and the checked releases in which it is passed and can be bound.

    `instead` are callees that stand for others, `renamed` are new names of parameters, by callee and old name.
    """
    found: dict[tuple[str, str], dict[Shape, ReleaseSet]] = {}
    for reached in result.reached:
        for each in reached.uses:
            if not isinstance(each, CallUse):
                continue
            use = moved(each, reached.prefix)
            assert isinstance(use, CallUse)
            context = reached.contexts[use.distribution]
            callee = instead.get(use.callee.dotted, use.callee.dotted)
            shapes = found.setdefault((use.location.path, callee), {})
            for part in parts(use, context.history):
                releases = part.releases & context.checked
                if not releases or not part.bound.fits:
                    continue
                defaults = _defaults(part.signature) if part.signature is not None else {}
                passed = [use.keywords[i] for i in part.keywords]
                named = [(renamed.get((use.callee.dotted, k.name or ""), k.name or ""), k) for k in passed]
                keywords = frozenset(
                    (name, k.certain, _values(k, releases))
                    for name, k in named
                    if name not in defaults or _values(k, releases) != defaults[name]
                )
                # Where a positional argument lands is what counts, not how it gets there.
                landed = [
                    (name, use.positional[i]) for name, i in zip(part.bound.places, part.positional, strict=False)
                ]
                keywords |= {(name, a.certain, _values(a, releases)) for name, a in landed if name is not None}
                positional = tuple(_values(a, releases) for name, a in landed if name is None)
                shape = (positional, keywords, part.shape.open_positional, part.shape.open_keywords)
                shapes[shape] = shapes.get(shape, EMPTY) | releases
    return found


def _values(argument: Argument, releases: ReleaseSet) -> frozenset[object]:
    """The literals that an argument may be in some releases, each with its type."""
    return frozenset(
        (type(value).__name__, value) for where, value in argument.values if not where.isdisjoint(releases)
    )


def _defaults(signature: Signature) -> Mapping[str, frozenset[object]]:
    """The parameters whose default is a literal, each with it."""
    found: dict[str, frozenset[object]] = {}
    for parameter in signature.parameters:
        if parameter.default is None:
            continue
        try:
            value = ast.literal_eval(parameter.default)
        except (ValueError, SyntaxError):
            continue
        if value is None or isinstance(value, bool | int | float | str):
            found[parameter.name] = frozenset({(type(value).__name__, value)})
    return found
