"""Which repair a finding gets: one file per repair, by the code of the rule that it is for.

Enters: findings, the uses behind them, the files. Leaves: repairs, each of one file, and for every other finding the
reason why there is none. Nothing is proven here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Location
from driftwatch.releases import union
from driftwatch.repair import (
    by_name,
    import_guard,
    keywords,
    moved_name,
    renamed_keyword,
    replacement,
    signature_probe,
)
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.losses import Losses
from driftwatch.repair.model import NoRepairError, Probe, Refusal, Repair, Safety
from driftwatch.repair.reimport import Reimport, together
from driftwatch.repair.text import Source

Make = Callable[[Finding, Source, Evidence], Repair | list[Reimport]]

REPAIRS: Mapping[str, Make] = {
    "DW103": by_name.repair,
    "DW104": by_name.repair,
    "DW201": moved_name.repair,
    "DW202": moved_name.repair,
    "DW301": replacement.repair,
    "DW501": import_guard.repair,
    "DW502": signature_probe.repair,
}
"""Repairs of one finding alone, by code."""
CODES = frozenset({"DW101", *REPAIRS})
"""The rules whose findings may be fixed."""

_NONE: Mapping[str, str] = {
    "DW102": "nobody but you knows what to pass for `{parameter}`",
    "DW302": "the method must be written by you: {message}",
}
_ELSE = "there is no repair for {name}: {hint}"
_ODD = frozenset('"\\')
_FAILS = frozenset({"DW101", "DW102", "DW103", "DW104", "DW201", "DW203"})
_GENERATED = re.compile(r"@generated|\bdo not edit\b|\b(?:auto-?)?generated (?:by|from|with)\b", re.IGNORECASE)
_VENDORED = frozenset(
    {"vendor", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "3rdparty", "extern", "site-packages"}
)


@dataclass(slots=True)
class Plan:
    """The repairs of some files, and what is not repaired."""

    repairs: list[Repair] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


@dataclass(slots=True)
class Planner:
    """Plans repairs. `losses` are by distribution; `refused` are findings whose repair did not stand the proof.

    `tried` counts the flags of its own that a module has been seen not to answer with, by fingerprint. `settled` are
    findings that have been seen to go away by the repairs of others, `in_vain` those that keep others from a repair.
    """

    source: Callable[[str], Source]
    evidence: Evidence
    losses: Mapping[str, Losses]
    unsafe: bool = False
    refused: dict[str, str] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)
    settled: set[Finding] = field(default_factory=set)
    in_vain: set[Finding] = field(default_factory=set)

    def plan(self, findings: Iterable[Finding]) -> Plan:
        """The repairs of findings, file by file."""
        plan = Plan()
        wishes: dict[str, list[keywords.Wish]] = {}
        imports: dict[str, list[Reimport]] = {}
        again: list[tuple[Finding, NoRepairError]] = []
        for finding in findings:
            try:
                if finding.fingerprint in self.refused:
                    raise NoRepairError(self.refused[finding.fingerprint])
                source = self.source(finding.location.path)
                self._must_be_ours(source)
                if finding.code in REPAIRS:
                    made = REPAIRS[finding.code](finding, source, self.evidence)
                    if isinstance(made, Repair):
                        self._take(plan, made)
                    else:
                        imports.setdefault(source.path, []).extend(made)
                elif finding.code == "DW101" and (renamed := renamed_keyword.repair(finding, source, self.evidence)):
                    self._take(plan, renamed)
                elif finding.code == "DW101":
                    try:
                        wish = self._keyword(finding, source)
                    except NoRepairError as error:
                        again.append((finding, error))
                        continue
                    wishes.setdefault(finding.location.path, []).append(wish)
                else:
                    text = _NONE.get(finding.code, _ELSE)
                    raise NoRepairError(
                        text.format(
                            name=finding.name, hint=finding.hint, parameter=finding.parameter, message=finding.message
                        )
                    )
            except NoRepairError as error:
                plan.refusals.append(Refusal(finding, str(error)))
        for finding, why in again:
            # What cannot be asked for itself may be asked by the flag that another repair makes.
            known = wishes.setdefault(finding.location.path, [])
            asked = (finding.symbol, finding.parameter)
            alike = (each.probe for each in known if (each.finding.symbol, each.finding.parameter) == asked)
            planned = [probe for probe in alike if probe is not None and probe.after]
            try:
                if not planned:
                    raise why
                known.append(self._keyword(finding, self.source(finding.location.path), planned))
            except NoRepairError as error:
                plan.refusals.append(Refusal(finding, str(error)))
        for path, names in imports.items():
            self._imports(plan, self.source(path), names)
        hopeless = {each.finding.fingerprint: reason for each, reason in self._in_vain(plan, wishes)}
        for path, found in wishes.items():
            plan.refusals += [
                Refusal(wish.finding, hopeless[wish.finding.fingerprint])
                for wish in found
                if wish.finding.fingerprint in hopeless
            ]
            left = [wish for wish in found if wish.finding.fingerprint not in hopeless]
            self._keywords(plan, self.source(path), left)
        return plan

    def settle(self, gone: Iterable[Finding]) -> bool:
        """Note what goes away by the repairs of others; whether there may be more to repair for that."""
        more = self.in_vain.intersection(gone) - self.settled
        self.settled |= more
        return bool(more)

    def _in_vain(self, plan: Plan, wishes: Mapping[str, list[keywords.Wish]]) -> Iterator[tuple[keywords.Wish, str]]:
        """What would make a call go on only to fail for another reason, which nobody fixes."""
        told = [refusal.finding for refusal in plan.refusals if refusal.finding.code in _FAILS]
        failing = [finding for finding in told if finding not in self.settled]
        for wish in (wish for found in wishes.values() for wish in found):
            mine = wish.finding
            calls = self._calls(mine)
            others = [each for each in failing if each.symbol == mine.symbol and calls & self._calls(each)]
            if mine.releases <= union([other.releases for other in others]):
                self.in_vain.update(others)
                yield wish, f"the call fails in these releases anyway: {', '.join(sorted({o.code for o in others}))}"

    def _calls(self, finding: Finding) -> set[Location]:
        """Where what a finding is about is called in the end."""
        return {finding.location, *(use.location for use, _ in self.evidence.calls(finding))}

    def _keyword(self, finding: Finding, source: Source, planned: Sequence[Probe] = ()) -> keywords.Wish:
        losses = self.losses.get(finding.distribution, Losses())
        wish = keywords.wish(finding, source, self.evidence, losses, self.tried[finding.fingerprint], planned)
        if wish.lost is not None and not self.unsafe:
            raise NoRepairError(f"with --unsafe: {wish.lost}")
        return wish

    def _keywords(self, plan: Plan, source: Source, wishes: list[keywords.Wish]) -> None:
        try:
            for repair in keywords.repairs(wishes, source):
                self._take(plan, repair)
        except NoRepairError as error:
            # One that cannot be made says nothing against the others.
            if len(wishes) == 1:
                plan.refusals.append(Refusal(wishes[0].finding, str(error)))
            for wish in wishes if len(wishes) > 1 else ():
                self._keywords(plan, source, [wish])

    def _imports(self, plan: Plan, source: Source, names: Iterable[Reimport]) -> None:
        by_statement: dict[ast.ImportFrom, list[Reimport]] = {}
        for each in names:
            by_statement.setdefault(each.statement, []).append(each)
        for found in by_statement.values():
            try:
                self._take(plan, together(source, found))
            except NoRepairError as error:
                told = dict.fromkeys(finding for each in found for finding in each.findings)
                plan.refusals += [Refusal(finding, str(error)) for finding in told]

    def _take(self, plan: Plan, repair: Repair) -> None:
        if repair.safety is Safety.UNSAFE and not self.unsafe:
            raise NoRepairError(f"with --unsafe: {repair.lost}")
        if any(_conflict(repair, other) for other in plan.repairs if other.path == repair.path):
            raise NoRepairError("another repair changes the same place; run `driftwatch fix` again")
        plan.repairs.append(repair)

    def _must_be_ours(self, source: Source) -> None:
        if not source.path.isprintable() or _ODD.intersection(source.path):
            raise NoRepairError("the file's name cannot stand in a patch")
        folders = source.path.lower().split("/")[:-1]
        if _VENDORED.intersection(folders):
            raise NoRepairError("the file is other people's code")
        head = [line for line in source.lines[:20] if line.startswith("#")]
        if any(_GENERATED.search(line) for line in head):
            raise NoRepairError("the file is generated")


def _conflict(one: Repair, other: Repair) -> bool:
    """Whether two repairs change one place. What is put in at one place must come one after the other for sure."""
    apart = max(each.end for each in one.edits) <= min(each.start for each in other.edits)
    apart = apart or max(each.end for each in other.edits) <= min(each.start for each in one.edits)
    pairs = [(a, b) for a in one.edits for b in other.edits]
    return any((a.start < b.end and b.start < a.end) or (a.start == b.start and not apart) for a, b in pairs)
