"""Tests: the releases in which one holds and in which it does not, and what is learnt on either way.

A guard is exact where the snapshots or the constants answer it; an unknown one lets both ways through. A test of a
variable narrows it: on the way on which ``x is None`` fails, ``x`` is none of its None alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, DictContent, Entry, ListContent
from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.facts import as_in, common, is_read_from, said_by, told_of
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.predicates import Sentinel, is_none, truth
from driftwatch.flow.domain.state import State, join_states
from driftwatch.flow.domain.taint import depends_on_release, is_tainted, of_parameter
from driftwatch.flow.domain.values import (
    Alternative,
    Atom,
    Const,
    DictRef,
    External,
    Function,
    Instance,
    Lazy,
    ListRef,
    NamesOf,
    Opaque,
    ParameterMap,
    Raised,
    Unknown,
    Value,
    is_ghost,
    key_for,
    value_of,
)
from driftwatch.flow.domain.within_containers import depends_within
from driftwatch.flow.interpreter.comparisons import ORDERS, by_fields, compared
from driftwatch.flow.interpreter.constants import tuple_of
from driftwatch.flow.interpreter.instance_tests import told_apart
from driftwatch.flow.interpreter.lookups import lookup
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of
from driftwatch.flow.interpreter.sequences import layouts_of
from driftwatch.flow.syntax.syntax import dotted_name
from driftwatch.releases import EMPTY, ReleaseSet

Answer = Callable[[Atom], bool | None]


def branch(run: Run, node: cst.BaseExpression) -> tuple[State, State]:
    """Evaluate a test in the current state: the states in which it holds and in which it does not."""
    # To ask a libcst class whether something is of it is slow, where it is not.
    kind = type(node)
    if kind is cst.Name or kind is cst.Attribute:
        return branch_value(run, node, run.eval(node, callee=True))
    if kind is cst.UnaryOperation and isinstance(node.operator, cst.Not):  # type: ignore[attr-defined]
        holds, fails = branch(run, node.expression)  # type: ignore[attr-defined]
        return fails, holds
    if kind is cst.BooleanOperation:
        return _both_operands(run, node)  # type: ignore[arg-type]
    if kind is cst.Comparison:
        return _comparison(run, node)  # type: ignore[arg-type]
    if isinstance(node, cst.NamedExpr):
        value = run.eval(node.value)
        if isinstance(node.target, cst.Name):
            assign_name(run, node.target.value, value)
        return branch_value(run, node.target, value)
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "bool"
        and len(node.args) == 1
    ):
        return branch(run, node.args[0].value)
    holds, fails = branch_value(run, node, run.eval(node, callee=True))
    if kind is cst.Call:
        told_apart(run, node, holds, fails)  # type: ignore[arg-type]
    return holds, fails


def branch_value(run: Run, node: cst.BaseExpression, value: Value) -> tuple[State, State]:
    """Split the current state by the truth of a value; `node` is the expression that gave it."""
    answers = [a for where, atom in as_alternatives(value, run.state.reach) for a in _answers(run, atom, where, node)]
    return _split(run, node, answers, of=value)


def _answers(
    run: Run, atom: Atom, where: ReleaseSet, node: cst.BaseExpression
) -> list[tuple[ReleaseSet, Atom, bool | None]]:
    """Whether an atom counts as true: of an instance of the code base's own, its class may say so."""
    if not isinstance(atom, Instance):
        return _truths(run, atom, where)
    for name in ("__bool__", "__len__"):
        method = instance_attribute(run, atom, name, where, None)
        if method is not None and method.where(lambda each: isinstance(each, Function)):
            said = run.call(method.within(where), NO_ARGUMENTS, node)
            return [
                (there, atom, answer)
                for here, each in as_alternatives(said, where & run.state.reach)
                for there, _, answer in _truths(run, each, here)
            ]
    return [(where, atom, True)]


def split(
    run: Run, node: cst.CSTNode | None, value: Value, answer: Answer, guards: ReleaseSet = EMPTY
) -> tuple[State, State]:
    """Split the current state by an answer about a value, and narrow the place the value was read from.

    `guards` is where the answer depends on the release, whatever the value.
    """
    guards |= depends_on_release(value)
    answers = [(w, atom, answer(atom)) for w, atom in as_alternatives(value, run.state.reach)]
    return _split(run, node, answers, guards, of=value)


def _split(
    run: Run,
    node: cst.CSTNode | None,
    answers: list[tuple[ReleaseSet, Atom, bool | None]],
    guards: ReleaseSet = EMPTY,
    *,
    of: Value,
) -> tuple[State, State]:
    state = run.state
    holds, fails, undecided = EMPTY, EMPTY, EMPTY
    ghost_holds, ghost_fails = EMPTY, EMPTY
    for where, atom, is_true in answers:
        if is_ghost(atom):
            ghost_holds |= where if is_true is not False else EMPTY
            ghost_fails |= where if is_true is not True else EMPTY
        else:
            holds |= where if is_true is not False else EMPTY
            fails |= where if is_true is not True else EMPTY
        if is_true is None and of_parameter(atom):
            run.effects.branches_on_parameters.add(atom.parameter or "")
        if is_true is None and (guards.mask or is_tainted(atom)):
            undecided |= where if is_tainted(atom) else where & guards
    yes, no = state.fork(holds | ghost_holds), state.fork(fails | ghost_fails)
    if ghost_holds.mask or ghost_fails.mask:
        yes.ghost |= ghost_holds - holds
        no.ghost |= ghost_fails - fails
    run.undecided(yes, no, undecided)
    path = _narrowable(run, node)
    if path is not None:
        if yes.reach.mask:
            yes.vars[path] = as_in(value_of((w, a) for w, a, t in answers if t is not False), of)
        if no.reach.mask:
            no.vars[path] = as_in(value_of((w, a) for w, a, t in answers if t is not True), of)
    if told_of(of):
        yes.told |= common(of, [a for _, a, t in answers if t is not False])
        no.told |= common(of, [a for _, a, t in answers if t is not True])
    return yes, no


def _narrowable(run: Run, node: cst.CSTNode | None) -> str | None:
    if type(node) is cst.Name:
        return node.value if node.value not in ("True", "False", "None") else None
    if type(node) is cst.Attribute:
        path = dotted_name(node)
        # Of modules, only what was looked up may be kept: another name may reach the same attribute.
        root = run.state.vars.get(path.partition(".")[0]) if path else None
        return path if root is not None else None
    return None


def _both_operands(run: Run, node: cst.BooleanOperation) -> tuple[State, State]:
    holds, fails = branch(run, node.left)
    is_and = isinstance(node.operator, cst.And)
    run.state = holds if is_and else fails
    if not run.state.reach:
        return (run.state, fails) if is_and else (holds, run.state)
    inner_holds, inner_fails = branch(run, node.right)
    if is_and:
        return inner_holds, join_states(fails, inner_fails) or inner_fails
    return join_states(holds, inner_holds) or inner_holds, inner_fails


def _comparison(run: Run, node: cst.Comparison) -> tuple[State, State]:
    left_node, left = node.left, run.eval(node.left, callee=True)
    failing: State | None = None
    for target in node.comparisons:
        right = run.eval(target.comparator, callee=True)
        operation = type(target.operator).__name__
        holds, fails = _compare(run, left_node, left, operation, target.comparator, right)
        say(run, holds, fails, left, operation, right)
        failing = join_states(failing, fails)
        run.state = holds
        left_node, left = target.comparator, right
    return run.state, failing if failing is not None else run.state.fork(EMPTY)


def say(run: Run, holds: State, fails: State, left: Value, operation: str, right: Value) -> None:
    """What a comparison says of an object of the library, of which one side is an attribute, is known on its ways."""
    if not left.where(is_read_from):
        left, right = (right, left) if operation in ("Equal", "NotEqual") else (left, right)
    if left.where(is_read_from):
        wanted = exact(run, right, lists=True).single()
        if wanted is not None:
            asked = [(where, atom, answer_comparison(atom, operation, wanted)) for where, atom in left.alternatives]
            yes, no = said_by(asked, operation, wanted)
            holds.told |= yes
            fails.told |= no


def _is_in(
    run: Run, container: Atom, item: Atom, where: ReleaseSet, node: cst.CSTNode
) -> tuple[ReleaseSet, ReleaseSet, ReleaseSet]:
    """Where something may be in a container and where it may not; and where the library decides, nobody can tell how.

    Of an object of the code base, its own method says so.
    """
    own = None
    if isinstance(container, Instance) and any("__contains__" in each.methods for each in lineage(container.code)[0]):
        own = instance_attribute(run, container, "__contains__", where, None)
    if own is None:
        return *membership(run, container, item, where), EMPTY
    given = Entry(where, where, Value(((where, item),)))
    answer = run.call(own, Arguments(ListContent((given,))), node).within(where)
    may = answer.where(lambda atom: truth_of(run, atom) is not False)
    may_not = answer.where(lambda atom: truth_of(run, atom) is not True)
    return may, may_not, may & may_not & answer.where(is_tainted)


def _compare(
    run: Run, left_node: cst.BaseExpression, left: Value, operation: str, right_node: cst.BaseExpression, right: Value
) -> tuple[State, State]:
    if depends_on_release(left) or depends_on_release(right):
        run.asks_of_library(left, right)
        if run.effects.depends_on_constants:
            run.touch()
    if operation in ("In", "NotIn"):
        yes, no, undecided = EMPTY, EMPTY, EMPTY
        for where, item in as_alternatives(left, run.state.reach):
            for there, container in as_alternatives(right, where):
                may, may_not, guess = _is_in(run, container, item, there, right_node)
                undecided |= guess
                yes, no = yes | may, no | may_not
                if may & may_not and (is_tainted(item) or _is_of_release(run, container, there)):
                    undecided |= may & may_not
                    run.asks_of_library(left, right)
        inside, outside = run.state.fork(yes), run.state.fork(no)
        run.undecided(inside, outside, undecided | (yes & no & depends_on_release(left)))
        return (inside, outside) if operation == "In" else (outside, inside)
    said = compared(run, left, operation, right, right_node)
    if said is not None:
        answers = [a for where, atom in as_alternatives(said, run.state.reach) for a in _truths(run, atom, where)]
        return _split(run, None, answers, of=said)
    if operation in ORDERS:
        left, right = by_fields(run, left, left_node), by_fields(run, right, right_node)
    lists = all(value.where(partial(_is_list, run)) for value in (left, right))
    left, right = exact(run, left, lists=lists), exact(run, right, lists=lists)
    guards = depends_within(left, run.content) | depends_within(right, run.content)
    if lists:
        # They can still be changed: the variables go on to hold the lists.
        return _pair_by_pair(run, left, operation, right, guards)
    single = right.single()
    if single is not None and not isinstance(single, Unknown):
        return split(run, _unwrap(left_node), left, lambda atom: answer_comparison(atom, operation, single), guards)
    alone = left.single()
    if alone is not None and not isinstance(alone, Unknown):
        return split(run, _unwrap(right_node), right, lambda atom: answer_comparison(alone, operation, atom), guards)
    return _pair_by_pair(run, left, operation, right, guards)


def _is_list(run: Run, atom: Atom) -> bool:
    content = lists_of(run, atom)
    if content is None:
        return isinstance(atom, Const) and isinstance(atom.value, frozenset)
    return not content.is_tuple


def _pair_by_pair(run: Run, left: Value, operation: str, right: Value, guards: ReleaseSet) -> tuple[State, State]:
    holds, fails, undecided = EMPTY, EMPTY, EMPTY
    reach = run.state.reach
    for where, a in left.alternatives:
        for there, b in right.alternatives:
            both = where & there & reach
            if both:
                answer = answer_comparison(a, operation, b)
                holds |= both if answer is not False else EMPTY
                fails |= both if answer is not True else EMPTY
                undecided |= both & guards if answer is None else EMPTY
    yes_state, no_state = run.state.fork(holds), run.state.fork(fails)
    run.undecided(yes_state, no_state, undecided)
    return yes_state, no_state


def exact(run: Run, value: Value, *, lists: bool = False) -> Value:
    """A value whose tuples, or lists too, are constants where all their elements are."""
    if not any(isinstance(atom, ListRef) for _, atom in value.alternatives):
        return value
    return value_of(
        alternative for where, atom in value.alternatives for alternative in _as_tuple(run, where, atom, lists=lists)
    )


def _as_tuple(run: Run, where: ReleaseSet, atom: Atom, *, lists: bool) -> Sequence[Alternative]:
    content = lists_of(run, atom)
    if content is None or not (content.is_tuple or lists) or content.open & where:
        return [(where, atom)]
    found: list[Alternative] = []
    for there, listed in layouts_of(content, where):
        constants = tuple_of(listed, there) if listed is not None else None
        found.extend([(there, atom)] if constants is None else _of_kind(constants, is_set=content.is_set))
    return found


def _of_kind(constants: Value, *, is_set: bool) -> Sequence[Alternative]:
    if not is_set:
        return constants.alternatives
    found: list[Alternative] = []
    for here, each in constants.alternatives:
        members = each.value if isinstance(each, Const) and isinstance(each.value, tuple) else ()
        found.append((here, Const(frozenset(members))))
    return found


def _unwrap(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.target if isinstance(node, cst.NamedExpr) else node


def answer_comparison(left: Atom, operation: str, right: Atom) -> bool | None:
    """Whether ``left operation right`` holds; None when nobody can tell."""
    if operation in ("Is", "Equal", "IsNot", "NotEqual"):
        same = _same(left, right)
        if same is not None:
            return same if operation in ("Is", "Equal") else not same
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return pure.compare(operation, left, right)
        except pure.NotPureError:
            return None
    return None


def _same(left: Atom, right: Atom) -> bool | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None:
            return is_none(other)
        if isinstance(one, Const) and isinstance(one.value, bool) and not isinstance(other, (Const, Unknown)):
            return None
    if isinstance(left, Sentinel) or isinstance(right, Sentinel):
        return None if isinstance(left, (Lazy, Unknown)) or isinstance(right, (Lazy, Unknown)) else left == right
    if isinstance(left, External) and isinstance(right, External):
        kinds = "inspect.Parameter."
        if left.dotted == right.dotted:
            return True
        if _is_exception(left) and _is_exception(right):
            return False
        # `inspect._ParameterKind` members are told apart by name; of other foreign objects nothing is known.
        return False if left.dotted.startswith(kinds) and right.dotted.startswith(kinds) else None
    if isinstance(left, Raised) or isinstance(right, Raised):
        return None
    if isinstance(left, Opaque) and isinstance(right, Opaque) and left.what and right.what:
        return left == right
    if isinstance(left, Const) or isinstance(right, Const):
        return None
    return True if left == right and not isinstance(left, Unknown) and truth(left) else None


def _is_exception(atom: External) -> bool:
    name = atom.dotted.removeprefix("builtins.")
    return name != atom.dotted and bool(raised_of(name).exact)


def membership(run: Run, container: Atom, item: Atom, where: ReleaseSet) -> tuple[ReleaseSet, ReleaseSet]:
    """The releases in which ``item in container`` may hold, and those in which it may fail."""
    if isinstance(item, External):
        return _listed(run, container, item, where)
    if not isinstance(item, Const):
        return _anything_in(run, container) & where, where
    if isinstance(container, ParameterMap):
        return (where, EMPTY) if any(p.name == item.value for p in container.parameters) else (EMPTY, where)
    if isinstance(container, NamesOf):
        return presence(run, container.owner, item.value, where) if isinstance(item.value, str) else (EMPTY, where)
    keys = dict_of(run, container)
    if keys is not None:
        name = key_for(item)
        entry = keys.entries.get(name) if name is not None else None
        if entry is None:
            return (keys.open | keys.forwarded) & where, where
        return (entry.releases | keys.open | keys.forwarded) & where, where - entry.certain
    content = lists_of(run, container)
    if content is not None:
        holds, surely = content.open & where, EMPTY
        for element in content.elements:
            for there, atom in as_alternatives(element.value, element.releases & where):
                if atom == item or not isinstance(atom, Const):
                    holds |= there
            if element.value.single() == item:
                surely |= element.certain & where
        return holds, where - surely
    if isinstance(container, Const):
        try:
            return (where, EMPTY) if pure.compare("In", item, container) else (EMPTY, where)
        except pure.NotPureError:
            return where, where
    return where, where


def _anything_in(run: Run, container: Atom) -> ReleaseSet:
    """The releases in which anything may be in a container."""
    content = dict_of(run, container) or lists_of(run, container)
    if content is None:
        return run.world.all_releases
    found = content.open | content.forwarded
    for entry in content.entries.values() if isinstance(content, DictContent) else content.elements:
        found |= entry.releases
    return found


def _is_of_release(run: Run, container: Atom, where: ReleaseSet) -> bool:
    """Whether what is in a container depends on the release."""
    return bool(depends_within(Value(((where, container),)), run.content))


def _listed(run: Run, container: Atom, item: External, where: ReleaseSet) -> tuple[ReleaseSet, ReleaseSet]:
    """Whether a foreign object, such as a kind of parameter, is in a list of such."""
    content = lists_of(run, container)
    if content is None or content.open & where:
        return where, where
    holds, surely = EMPTY, EMPTY
    for element in content.elements:
        for there, atom in as_alternatives(element.value, element.releases & where):
            same = _same(atom, item)
            if same is not False:
                holds |= there
            if same is True:
                surely |= there & element.certain
    return holds, where - surely


def truth_of(run: Run, atom: Atom) -> bool | None:
    """Whether an atom counts as true, the content of containers included."""
    if isinstance(atom, External):
        return False if atom.dotted in ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING") else None
    if isinstance(atom, (DictRef, ListRef)):
        answers = {answer for _, _, answer in _truths(run, atom, run.state.reach)}
        return answers.pop() if len(answers) == 1 else None
    return truth(atom)


def _truths(run: Run, atom: Atom, where: ReleaseSet) -> list[tuple[ReleaseSet, Atom, bool | None]]:
    """Whether an atom counts as true, in parts of the given releases."""
    content = dict_of(run, atom) or lists_of(run, atom)
    if content is None:
        return [(where, atom, None if isinstance(atom, (DictRef, ListRef)) else truth_of(run, atom))]
    surely = EMPTY
    for entry in content.entries.values() if isinstance(content, DictContent) else content.elements:
        surely |= entry.certain
    surely &= where
    never = where - _anything_in(run, atom)
    parts = ((surely, True), (never, False), (where - surely - never, None))
    return [(there, atom, answer) for there, answer in parts if there]


def presence(run: Run, atom: Atom, name: str, where: ReleaseSet) -> tuple[ReleaseSet, ReleaseSet]:
    """Where ``hasattr(atom, name)`` may hold and where it may fail."""
    found = lookup(run, atom, name, where)
    if found is not None:
        run.touch()
        return found.present | found.unknown, where - found.present
    return where, where
