"""``match``: the releases in which each pattern matches, as far as constants decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import ListContent
from driftwatch.flow.domain.exceptions import is_one_of
from driftwatch.flow.domain.state import State, join_states
from driftwatch.flow.domain.taint import depends_on_release, is_tainted
from driftwatch.flow.domain.values import (
    Atom,
    Class,
    Const,
    DictRef,
    Function,
    Instance,
    ListRef,
    Raised,
    Value,
    const,
    key_for,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.conditions import answer_comparison, exact, say, split
from driftwatch.flow.interpreter.containers import item_of
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.exceptional import class_names
from driftwatch.flow.interpreter.instance_tests import is_instance
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.records import fields_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of, settle
from driftwatch.flow.interpreter.sequences import layouts_of
from driftwatch.flow.syntax.children import walk
from driftwatch.releases import EMPTY, ReleaseSet


def execute_match(run: Run, node: cst.Match) -> None:
    subject = run.eval(node.subject)
    left: State | None = run.state
    ends: list[State | None] = []
    for case in node.cases:
        if left is None or not left.reach:
            break
        run.state = left
        holds, fails = _match_pattern(run, node.subject, subject, case.pattern)
        run.state = holds
        if case.guard is not None and run.state.reach:
            holds, guard_fails = run.branch(case.guard)
            fails = join_states(fails, guard_fails) or fails
            run.state = holds
        run.block(case.body.body)
        ends.append(run.state)
        left = fails
    settle(run, [*ends, left])


def _match_pattern(
    run: Run, node: cst.BaseExpression | None, subject: Value, pattern: cst.MatchPattern
) -> tuple[State, State]:
    if isinstance(pattern, cst.MatchAs):
        if pattern.name is not None:
            assign_name(run, pattern.name.value, subject.within(run.state.reach))
        if pattern.pattern is None:
            return run.state, run.state.fork(EMPTY)
        return _match_pattern(run, node, subject, pattern.pattern)
    if isinstance(pattern, cst.MatchSingleton):
        wanted = {"None": None, "True": True, "False": False}[pattern.value.value]
        return split(run, node, subject, lambda atom: answer_comparison(atom, "Is", Const(wanted)))
    if isinstance(pattern, cst.MatchValue):
        wanted_value = run.eval(pattern.value)
        value = wanted_value.single()
        if value is not None:
            yes, no = split(run, node, subject, lambda atom: answer_comparison(atom, "Equal", value))
            say(run, yes, no, subject, "Equal", wanted_value)
            return yes, no
    if isinstance(pattern, cst.MatchOr):
        holds: State | None = None
        fails = run.state
        for alternative in pattern.patterns:
            run.state = fails
            yes, fails = _match_pattern(run, node, subject, alternative.pattern)
            holds = join_states(holds, yes)
        return holds if holds is not None else run.state.fork(EMPTY), fails
    if isinstance(pattern, cst.MatchClass):
        cls = run.eval(pattern.cls, callee=True)
        names = class_names(run, cls)
        plain = not pattern.patterns and not pattern.kwds
        if plain and names is not None and subject.where(lambda atom: isinstance(atom, Raised)):
            return split(run, node, subject, lambda a: is_one_of(a, names) if isinstance(a, Raised) else None)
        of_class = cls.single()
        return _each(run, subject, pattern, lambda run, atom: _match_class(run, atom, of_class, pattern))
    if isinstance(pattern, cst.MatchMapping):
        return _each(run, subject, pattern, lambda run, atom: _match_mapping(run, atom, pattern))
    if isinstance(pattern, (cst.MatchList, cst.MatchTuple)):
        found = _match_constants(run, subject, pattern)
        return found or _each(run, subject, pattern, lambda run, atom: _match_sequence(run, atom, pattern))
    return _not_followed(run, subject, pattern)


Ways = tuple[State, State]
"""Where a pattern matches, and where it does not."""


def _each(
    run: Run, subject: Value, pattern: cst.MatchPattern, match: Callable[[Run, Atom], Ways | None]
) -> tuple[State, State]:
    """Match each alternative of a subject by itself; None stands for one of which it asks what is not known."""
    start = run.state
    holds: State | None = None
    fails: State | None = None
    for where, atom in as_alternatives(subject, start.reach):
        run.state = start.fork(where)
        yes, no = match(run, atom) or _not_followed(run, Value(((where, atom),)), pattern)
        holds, fails = join_states(holds, yes), join_states(fails, no)
    return holds or start.fork(EMPTY), fails or start.fork(EMPTY)


def _not_followed(run: Run, subject: Value, pattern: cst.MatchPattern) -> Ways:
    lose(run, subject, pattern, "taken apart by a pattern that is not followed")
    _bind_captures(run, pattern)
    undecided = run.state.fork(), run.state.fork()
    run.undecided(*undecided, depends_on_release(subject))
    return undecided


def _in_turn(run: Run, parts: Iterable[tuple[Value, ReleaseSet, cst.MatchPattern]], fails: State) -> Ways:
    """Match several parts of a thing; each with where it surely is there."""
    failing: State | None = fails
    for value, certain, pattern in parts:
        failing = join_states(failing, run.state.fork(run.state.reach - certain))
        run.state = run.state.fork(run.state.reach & value.defined())
        yes, no = _match_pattern(run, None, value, pattern)
        failing, run.state = join_states(failing, no), yes
    return run.state, failing or fails


def _match_mapping(run: Run, atom: Atom, pattern: cst.MatchMapping) -> Ways | None:
    content = dict_of(run, atom)
    if content is None:
        plain = isinstance(atom, (Const, ListRef, Function, Class, Instance))
        return (run.state.fork(EMPTY), run.state) if plain else None
    reach, parts, taken = run.state.reach, [], set()
    for element in pattern.elements:
        key = run.eval(element.key).single()
        name = key_for(key) if key is not None else None
        if key is None or name is None:
            return None
        entry = content.entries.get(name)
        there = entry.releases | content.open if entry is not None else content.open | content.forwarded
        held = value_of(item_of(run, atom, key, reach & there))
        parts.append((held, entry.certain if entry is not None else EMPTY, element.pattern))
        taken.add(name)
    holds, fails = _in_turn(run, parts, run.state.fork(EMPTY))
    if isinstance(pattern.rest, cst.Name):
        run.state = holds
        rest = {key: entry for key, entry in content.entries.items() if key not in taken}
        assign_name(run, pattern.rest.value, run.new_dict(pattern, replace(content, entries=rest)))
    return holds, fails


def _match_class(run: Run, atom: Atom, wanted: Atom | None, pattern: cst.MatchClass) -> Ways | None:
    answer = is_instance(run, atom, wanted)
    if answer is False:
        return run.state.fork(EMPTY), run.state
    takes_apart = bool(pattern.patterns or pattern.kwds)
    if answer is None:
        return None if takes_apart else _undecided(run, atom)
    if takes_apart and not isinstance(atom, Instance):
        return None
    reach = run.state.reach
    parts = [(each.key.value, each.pattern) for each in pattern.kwds]
    if isinstance(atom, Instance):
        places = zip(fields_of(atom.code), pattern.patterns, strict=False)
        parts = [*((name, each.value) for name, each in places), *parts]
    held: list[tuple[Value, ReleaseSet, cst.MatchPattern]] = []
    for name, part in parts:
        value = instance_attribute(run, atom, name, reach, None) if isinstance(atom, Instance) else None
        value = value if value is not None else unknown(reach)
        held.append((value, value.defined(), part))
    return _in_turn(run, held, run.state.fork(EMPTY))


def _undecided(run: Run, atom: Atom) -> Ways:
    """What is asked of it leaves both ways open, and takes nothing apart."""
    ways = run.state.fork(), run.state.fork()
    run.undecided(*ways, run.state.reach if is_tainted(atom) else EMPTY)
    return ways


def _match_sequence(run: Run, atom: Atom, pattern: cst.MatchSequence) -> Ways | None:
    """A list or tuple is taken apart where it is known how many elements it has."""
    content = lists_of(run, atom)
    if content is None:
        plain = isinstance(atom, (Const, DictRef, Function, Class, Instance))
        return (run.state.fork(EMPTY), run.state) if plain and not _is_tuple(atom) else None
    star = next((i for i, each in enumerate(pattern.patterns) if isinstance(each, cst.MatchStar)), None)
    least = len(pattern.patterns) - (star is not None)
    start = run.state
    holds: State | None = None
    fails: State | None = None
    for where, listed in layouts_of(content, start.reach):
        if listed is None:
            return None
        if len(listed) < least or (star is None and len(listed) > least):
            fails = join_states(fails, start.fork(where))
            continue
        run.state = start.fork(where)
        parts: list[tuple[Value, ReleaseSet, cst.MatchPattern]] = []
        for i, each in enumerate(pattern.patterns):
            if isinstance(each, cst.MatchSequenceElement):
                entry = listed[i if star is None or i < star else i - len(pattern.patterns)]
                parts.append((entry.value.within(where), where, each.value))
        yes, no = _in_turn(run, parts, start.fork(EMPTY))
        others = pattern.patterns[star] if star is not None else None
        if isinstance(others, cst.MatchStar) and others.name is not None and star is not None:
            run.state = yes
            rest = tuple(listed[star : len(listed) - (least - star)])
            assign_name(run, others.name.value, run.new_list(pattern, ListContent(rest)))
        holds, fails = join_states(holds, yes), join_states(fails, no)
    return holds or start.fork(EMPTY), fails or start.fork(EMPTY)


def _is_tuple(atom: Atom) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, tuple)


def _match_constants(run: Run, subject: Value, pattern: cst.MatchSequence) -> Ways | None:
    """A sequence is taken apart where it is a tuple of constants; None when it may be anything else."""
    subject = exact(run, subject).within(run.state.reach)
    parts = [element.value for element in pattern.patterns if isinstance(element, cst.MatchSequenceElement)]
    tuples = [(where, atom.value) for where, atom in subject.alternatives if isinstance(atom, Const)]
    if len(tuples) < len(subject.alternatives) or len(parts) < len(pattern.patterns):
        return None
    fitting = [(where, value) for where, value in tuples if isinstance(value, tuple) and len(value) == len(parts)]
    start, all_fail = run.state, EMPTY
    for where, value in tuples:
        all_fail |= where if (where, value) not in fitting else EMPTY
    holds: State | None = None
    fails: State | None = start.fork(all_fail)
    for where, value in fitting:
        run.state = start.fork(where)
        for part, item in zip(parts, value, strict=True):
            yes, no = _match_pattern(run, None, const(item, run.state.reach), part)
            fails = join_states(fails, no)
            run.state = yes
        holds = join_states(holds, run.state)
    return holds or start.fork(EMPTY), fails or start.fork(EMPTY)


def _bind_captures(run: Run, pattern: cst.CSTNode) -> None:
    for child in walk(pattern):
        if isinstance(child, (cst.MatchAs, cst.MatchStar)) and child.name is not None:
            assign_name(run, child.name.value, unknown(run.state.reach))
