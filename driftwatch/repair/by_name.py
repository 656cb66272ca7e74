"""DW103 and DW104: positional arguments past what every release agrees on are passed by name.

It is done where the name is the same in all checked releases that are reached, and every one takes it by name.
"""

from __future__ import annotations

import ast

from driftwatch.binding.calls import Part, takes_keyword
from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import CallUse
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.text import Source
from driftwatch.rules.rule import Context


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair:
    context = evidence.contexts[finding.distribution]
    uses = [use for use in evidence.at(finding) if isinstance(use, CallUse) and _is_of(finding, use)]
    if not uses:
        raise NoRepairError("the call cannot be found")
    call = source.named(finding.location, ast.Call)
    if not isinstance(call, ast.Call):
        raise NoRepairError("the call cannot be found")
    given = [use for use in uses if use.location == finding.location]
    shift = 0
    if not given:
        # What is written elsewhere: a partial names its callee first.
        partial = (
            isinstance(call.func, ast.Name | ast.Attribute) and source.of(call.func).rpartition(".")[2] == "partial"
        )
        if not partial:
            raise NoRepairError("the arguments go through a function of its own")
        shift = 1
    passed = call.args[shift:]
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise NoRepairError("the positional arguments come out of a `*`")
    first, names = _names(uses, finding, context, len(passed))
    given_twice = set(names[first:]) & {keyword.arg for keyword in call.keywords}
    if given_twice:
        raise NoRepairError(f"`{min(given_twice)}` is passed by name as well")
    items = source.items(call)
    edits = []
    for argument, name in list(zip(passed, names, strict=True))[first:]:
        start, _ = items.spans[items.index(source.span(argument)[0])]
        edits.append(Edit(start, start, f"{name}="))
    told = ", ".join(f"`{name}`" for name in names[first:])
    return Repair((finding,), source.path, tuple(edits), f"pass {told} by name")


def _is_of(finding: Finding, use: CallUse) -> bool:
    places = {use.location, *(each.location for each in use.positional if each.location is not None)}
    return use.callee.dotted == finding.symbol and finding.location in places


def _names(uses: list[CallUse], finding: Finding, context: Context, count: int) -> tuple[int, list[str]]:
    """From which argument on names are needed, and the names of all."""
    parts = [
        part
        for use in uses
        for part in context.parts(use)
        if not part.releases.isdisjoint(context.checked) and len(part.positional) >= count
    ]
    if any(part.signature is None for part in parts):
        raise NoRepairError("a release takes whatever is passed")
    # Where the call is not at fault, it says what is meant.
    good = [p for p in parts if p.bound.fits and p.releases.isdisjoint(finding.releases)]
    if not good:
        raise NoRepairError("no checked release says what the argument is called")
    reference = max(good, key=lambda part: (part.releases & context.checked).mask.bit_length())
    names = [name or "" for name in reference.bound.places[:count]]
    first = next((i for i in range(count) if any(_place(part, i) != names[i] for part in parts)), count)
    if first == count:
        raise NoRepairError("all checked releases agree about its place")
    for i in range(first, count):
        if not names[i]:
            raise NoRepairError("an argument lands in `*args`")
        strange = [part for part in parts if not takes_keyword(part.signature, names[i])]
        if strange:
            where = context.history.timeline.describe(strange[0].releases & context.checked)
            raise NoRepairError(f"{where} takes no `{names[i]}` by name")
    return first, names


def _place(part: Part, index: int) -> str | None:
    return part.bound.places[index] if index < len(part.bound.places) else None
