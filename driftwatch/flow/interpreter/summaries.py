"""Calls that are not followed: what a function's summary says of one, and whether that is enough.

A summary is what a call does whose arguments are not known, of any instance. It is enough where the call at hand does
the same; what it makes, it makes for this call.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.code import Summary
from driftwatch.flow.domain.contents import Arguments, DictContent
from driftwatch.flow.domain.effects import Effects
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.renaming import Renaming
from driftwatch.flow.domain.state import join_content
from driftwatch.flow.domain.taint import depends_on_release, tells, unknown_tainted
from driftwatch.flow.domain.values import (
    Alternative,
    Class,
    DictRef,
    External,
    Function,
    Instance,
    ListRef,
    Opaque,
    Unknown,
    Value,
    join,
    key_of,
    unknown,
)
from driftwatch.flow.interpreter.arguments import is_interesting, passes_constants
from driftwatch.flow.interpreter.containers import merge_dicts
from driftwatch.flow.interpreter.escape import has_library
from driftwatch.flow.interpreter.havoc import havoc, holds_mutable
from driftwatch.flow.interpreter.member_writes import stays
from driftwatch.flow.interpreter.objects import content_of, held_by
from driftwatch.flow.interpreter.parameters import bind_arguments
from driftwatch.flow.interpreter.run import Run, escape
from driftwatch.releases import EMPTY


def of_instance(callee: Function, arguments: Arguments) -> tuple[Function, Arguments]:
    """``Base.method(self, ...)`` is a call of the method of that instance."""
    first = arguments.positional.elements[0] if arguments.positional.elements else None
    this = first.value.single() if first is not None else None
    function = callee.code
    if (
        callee.bound is not None
        or function.owner is None
        or function.kind == "static"
        or not isinstance(this, Instance)
    ):
        return callee, arguments
    rest = replace(arguments.positional, elements=arguments.positional.elements[1:])
    return Function(function, this), Arguments(rest, arguments.keywords)


def is_special(run: Run, this: Instance, summary: Summary, arguments: Arguments) -> bool:
    """Whether what a method does of this instance differs from what it does of any."""
    content = content_of(run, this)
    if content is None:
        return False
    if summary.constructs is not None:
        known = is_interesting(run, arguments) or passes_constants(run, arguments) or holds_mutable(run, arguments)
        return known or summary.effects.sets_attributes
    # One that an instance holds is any that such an instance may hold, and what methods set on it is known as that.
    of_another = this.site not in run.made and this.site not in run.world.homes
    if not of_another and (summary.effects.sets_attributes or summary.effects.changes):
        return True
    reach = run.state.reach
    looked_at = {
        n: held_by(run, this, content, n, reach)[0] for n in content.entries if n in summary.effects.reads_attributes
    }
    if any(_differs(run, this, name, value, told=of_another) for name, value in looked_at.items()):
        return True
    # What is said of all instances now, a summary may not have known.
    says = any(tells(value) or has_library(run, value) for value in looked_at.values())
    return (says or bool(looked_at and summary.made)) and run.world.dependencies.stale(summary.reads)


def holds_its_own(run: Run, this: Instance, names: Collection[str]) -> bool:
    """Whether one of these attributes is known of an instance, and is not what it is of any."""
    content = content_of(run, this)
    for name in content.entries if content is not None else ():
        if name in names and content is not None and isinstance(name, str):
            own = held_by(run, this, content, name, run.state.reach)[0]
            known = any(not isinstance(atom, (Unknown, External, Opaque)) for _, atom in own.alternatives)
            if known and set(own.alternatives) != set(_of_any(this, name).alternatives):
                return True
    return False


def _of_any(this: Instance, name: str) -> Value:
    """What an attribute may be of any instance of a class."""
    found = Value()
    for each in lineage(this.code)[0]:
        found = join(found, each.attributes.get(name, Value()))
    return found


def _differs(run: Run, this: Instance, name: str, own: Value, *, told: bool) -> bool:
    """Whether an attribute is something else than what is said of all instances.

    `told`: only what tells something about the library counts, and where not all instances have the same.
    """
    of_any, order = _of_any(this, name), lineage(this.code)[0]
    if set(own.alternatives) == set(of_any.alternatives):
        return _holds_more(run, this, own)
    if told:
        return any(len(each.told_apart.get(name, ())) > 1 for each in order)
    return tells(own) or tells(of_any) or any(map(_is_followed, (*own.alternatives, *of_any.alternatives)))


def _holds_more(run: Run, this: Instance, own: Value) -> bool:
    """Whether there is something of the library in a container that is not known of all instances."""
    for _, atom in own.alternatives:
        key = key_of(atom) if isinstance(atom, (DictRef, ListRef)) else None
        if key is not None and run.content(key) != this.code.heap.get(key) and has_library(run, own):
            return True
    return False


def _is_followed(alternative: Alternative) -> bool:
    atom = alternative[1]
    return key_of(atom) is not None or isinstance(atom, (Function, Class))


def ask_for(caller: Effects, callee: Effects, arguments: Arguments, *, chosen: bool) -> None:
    """What a function that is called asks of its parameters, or does to them, the caller does with its own there.

    `chosen`: they choose what it gives.
    """
    given = (a for value in arguments.values() for _, a in value.alternatives)
    own = {atom.parameter for atom in given if isinstance(atom, Unknown) and atom.parameter}
    if own:
        caller.on_parameters(callee)
        caller.branches_on_parameters |= own if chosen else set()


def by_summary(run: Run, summary: Summary, arguments: Arguments, callee: Function, node: cst.CSTNode) -> Value:
    given = arguments.values()
    for value in given:
        escape(run, value)
    if summary.effects.passes_on:
        havoc(run, arguments, node)
    _change(run, summary)
    if isinstance(callee.bound, Instance) and callee.bound.site is None:
        run.effects.on_instances(summary.effects)
    renaming = _made_by(run, summary, arguments, callee, node)
    run.state.adopt(summary.heap)
    if summary.conditional.mask:
        run.undecided(run.state, run.state.fork(), summary.conditional)
    if callee.bound is not None:
        run.state.forget_attributes()
    if summary.effects.uses_library:
        run.touch()
    for kind in sorted(summary.effects.raises):
        run.may_raise(kind)
    returned = summary.returns.within(run.state.reach)
    returned = renaming.value(returned) if renaming is not None else returned
    rest = run.state.reach - returned.defined()
    guards = EMPTY
    for value in given:
        guards |= depends_on_release(value)
    return unknown_tainted(join(returned, unknown(rest)), guards)


def _made_by(run: Run, summary: Summary, arguments: Arguments, callee: Function, node: cst.CSTNode) -> Renaming | None:
    """What a function that is not followed makes in one call; a constructor leaves it in what it is called of."""
    if not summary.made and not any(map(_is_passed_on, summary.returns.alternatives)):
        return None
    frame, state, this = run.frame, run.state, callee.bound
    numbers = run.world.identities
    keys = {key: numbers.number(node, frame.uid, "made", *frame.turns, of=key) for key in summary.made}
    constructed = summary.constructs if isinstance(this, Instance) and this.site is not None else None
    if constructed is not None and isinstance(this, Instance) and this.site is not None:
        keys[constructed] = this.site
    parameters = bind_arguments(run, callee.code, this, arguments, node, numbers.call(frame, node))
    renaming = Renaming(keys, parameters)
    run.made.update(keys.values())
    for old, new in keys.items():
        content, before = summary.made[old], state.heap.get(new)
        if old in run.world.shared:
            run.world.shared[new] = run.world.shared[old]
        after = renaming.content(content)
        if old == constructed and isinstance(before, DictContent) and isinstance(after, DictContent):
            after = merge_dicts(before, after, state.reach)
            for entry in after.entries.values():
                stays(run, entry.value)
        state.heap[new] = after
    return renaming


def _is_passed_on(alternative: Alternative) -> bool:
    atom = alternative[1]
    return isinstance(atom, Unknown) and atom.parameter is not None


def _change(run: Run, summary: Summary) -> None:
    """A function that is not followed changes containers that were there before, or does not."""
    state = run.state
    for key in summary.effects.changes:
        run.effects.changes.add(key)
        mine, after = state.heap.get(key), summary.heap.get(key)
        if mine is not None and key in run.world.shared:
            # What all have put into it is known where it is shared.
            del state.heap[key]
        elif mine is not None and mine != after:
            loose = loosened(mine, state.reach)
            state.heap[key] = loose if after is None else join_content(mine, state.reach, after, state.reach, EMPTY)
