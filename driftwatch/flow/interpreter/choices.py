"""What a function gives may be made of what it is given, or chosen by that: of which parameters, and who says so.

A summary knows no arguments. Where a call says what one of those parameters is, the helper is followed for it: a
constant that is passed through, a flag that is turned round, the record that it makes. That is done for helpers alone,
which execute few statements.
"""

from __future__ import annotations

from collections.abc import Mapping

from driftwatch.flow.domain.code import ANY_INSTANCE, Summary
from driftwatch.flow.domain.contents import Arguments, Content, DictContent, ListContent, PartialContent
from driftwatch.flow.domain.effects import Effects
from driftwatch.flow.domain.predicates import overlaps
from driftwatch.flow.domain.renaming import held_by
from driftwatch.flow.domain.values import (
    Alternative,
    Atom,
    External,
    Function,
    Instance,
    ListRef,
    Opaque,
    Unknown,
    Value,
)
from driftwatch.flow.interpreter.parameters import rest_parameters
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.summaries import holds_its_own

MAX_HELPER = 80
"""A function that executes more statements than this is not followed for the sake of what it gives alone."""


def varies(effects: Effects, returns: Value, made: Mapping[int, Content]) -> frozenset[str]:
    """The parameters of which is made what a function gives, or has made, or which have chosen it."""
    values = [returns, *(value for content in made.values() for value in held_by(content))]
    unknown = [atom for value in values for _, atom in value.alternatives if isinstance(atom, Unknown)]
    found = {atom.parameter for atom in unknown if atom.parameter and atom.derived}
    chosen = any(map(leaves_out, made.values())) or any(_is_ambiguous(value, made) for value in values)
    if chosen:
        found |= effects.branches_on_parameters
    if effects.reads_attributes and (chosen or any(atom.parameter is None and atom.tainted for atom in unknown)):
        found.add(ANY_INSTANCE)
    return frozenset(found)


def _is_ambiguous(value: Value, made: Mapping[int, Content]) -> bool:
    """Whether a value may be one of several things in one release, one of which is known."""
    return overlaps(value) and any(_is_known(atom, made) for _, atom in value.alternatives)


def _is_known(atom: Atom, made: Mapping[int, Content]) -> bool:
    content = made.get(atom.key) if isinstance(atom, ListRef) else None
    if isinstance(content, ListContent):
        return any(_is_known(each, made) for entry in content.elements for _, each in entry.value.alternatives)
    if isinstance(atom, Unknown):
        return atom.parameter is not None
    return not isinstance(atom, (External, Opaque))


def leaves_out(content: Content) -> bool:
    """Whether there is something in a container that may be there, or may not."""
    if isinstance(content, PartialContent):
        return False
    entries = content.entries.values() if isinstance(content, DictContent) else content.elements
    return any(entry.certain != entry.releases for entry in entries)


def says(run: Run, callee: Function, summary: Summary, arguments: Arguments) -> bool:
    """Whether a call says what one of the parameters is that matter, be it by leaving it to its default."""
    names, looked_at = summary.varies, summary.effects.reads_attributes
    if not names or summary.work > MAX_HELPER:
        return False
    if ANY_INSTANCE in names:
        atoms = (callee.bound, *(atom for value in arguments.values() for _, atom in value.alternatives))
        if any(isinstance(atom, Instance) and holds_its_own(run, atom, looked_at) for atom in atoms):
            return True
    function = callee.code
    skipped = callee.bound is not None and function.kind != "static"
    positional = arguments.positional.elements
    params = function.node.params
    ordered = [*params.posonly_params, *params.params][skipped:]
    for i, parameter in enumerate((*ordered, *params.kwonly_params)):
        name = parameter.name.value
        if name not in names:
            continue
        given = positional[i] if i < min(len(positional), len(ordered)) else arguments.keywords.entries.get(name)
        if given is None:
            if parameter.default is not None:
                return True
        elif any(map(_tells_what_it_is, given.value.alternatives)):
            return True
    return not names.isdisjoint(rest_parameters(function))


def _tells_what_it_is(alternative: Alternative) -> bool:
    return not isinstance(alternative[1], (Unknown, External, Opaque))
