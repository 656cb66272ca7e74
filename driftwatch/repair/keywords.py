"""DW101: a keyword that some releases do not take is passed only where the installed build takes it.

Where the value is the default that every release has for it, it is not passed at all. The keyword may be written in
the call, in a dict that is passed, in a `functools.partial`, or at the caller of a function that passes keywords on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from driftwatch.binding.calls import callee_epochs, takes_keyword
from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Argument, CallUse
from driftwatch.releases import EMPTY
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.losses import Losses, is_default
from driftwatch.repair.model import Edit, NoRepairError, Probe, Repair, Safety
from driftwatch.repair.names import binds, chain, fresh, imported_as, within
from driftwatch.repair.probes import asked, known_flags, new_probe
from driftwatch.repair.text import Source
from driftwatch.rules.rule import Context


@dataclass(frozen=True, slots=True)
class Place:
    """Where a keyword is written: `node` is the keyword of a call, the key of a dict, or a statement that sets it."""

    node: ast.keyword | ast.expr | ast.stmt
    holder: ast.Call | ast.Dict | None
    value: str


@dataclass(frozen=True, slots=True)
class Wish:
    """One finding, where its keyword is written, and the question that decides; None drops it for good."""

    finding: Finding
    place: Place
    probe: Probe | None
    lost: str | None


def wish(
    finding: Finding,
    source: Source,
    evidence: Evidence,
    losses: Losses,
    flag: int = 0,
    planned: Sequence[Probe] = (),
) -> Wish:
    """What to do about a finding. `flag` counts the flags of the module that have been tried in vain.

    `planned` are flags for the same question that other repairs of the module make: a second run would find them there.
    """
    context = evidence.contexts[finding.distribution]
    pairs = evidence.calls(finding)
    if not pairs:
        raise NoRepairError("where the keyword comes from cannot be told")
    use, argument = pairs[0]
    name = finding.parameter or ""
    _must_be_shown(use, name, context)
    place = place_of(source, finding, pairs)
    _must_not_be_asked_for(source, place, name)
    lost = losses.of(use, argument, finding.releases | finding.beyond, context.history)
    if (
        isinstance(place.holder, ast.Call)
        and isinstance(place.node, ast.keyword)
        and is_default(pairs, context.history)
    ):
        # Whoever says why it is passed wants it passed.
        items = source.items(place.holder)
        said = items.has_comment(items.index(source.span(place.node)[0]))
        if not said and (lost is None or not losses.rows):
            return Wish(finding, place, None, None)
    function = function_called(source, finding, use, argument)
    callee = use.callee.qualname.rpartition(".")[2]
    flags = known_flags(source, callee, name)
    if flag < len(flags):
        return Wish(finding, place, Probe(".".join(chain(function) or [callee]), name, flags[flag]), lost)
    begins = source.span(source.statement(place.node))[0]
    for probe in planned:
        if source.function(place.node) is not None or begins >= probe.after:
            return Wish(finding, place, probe, lost)
    always = all(context.checked <= context.history.present(each.callee) for each, _ in pairs)
    return Wish(finding, place, new_probe(source, function, name, place.node, always=always), lost)


def _must_be_shown(use: CallUse, name: str, context: Context) -> None:
    """A build that takes the keyword must have it in its signature, or asking for it would lose it."""
    taken = EMPTY
    everywhere = CallUse(
        use.distribution, use.location, context.history.timeline.all, use.catch, (), use.callee, method=use.method
    )
    for releases, epochs in callee_epochs(everywhere, context.history):
        for epoch in epochs:
            for signature in epoch.symbol.possible:
                if not takes_keyword(signature, name):
                    continue
                shown = epoch.symbol.shows or signature
                if shown is None or not any(each.name == name for each in shown.parameters):
                    raise NoRepairError(f"a build that takes `{name}` does not show it in its signature")
                taken |= releases
    if not taken:
        raise NoRepairError(f"no recorded release takes `{name}`")


def _must_not_be_asked_for(source: Source, place: Place, name: str) -> None:
    """What is put into a dict only in some releases must not be taken out of it, or read there, in all of them."""
    if isinstance(place.node, ast.keyword) and not _makes_a_dict(place.holder):
        return
    function = source.function(place.node)
    for node in ast.walk(function or source.tree):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Store):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
            key = node.args[0] if len(node.args) == 1 else None
        if isinstance(key, ast.Constant) and key.value == name:
            raise NoRepairError(f"`{name}` is taken out of a dict again, or read there")


def _makes_a_dict(holder: ast.Call | ast.Dict | None) -> bool:
    parts = (chain(holder.func) if isinstance(holder, ast.Call) else None) or [""]
    return parts == ["dict"] or parts[-1] == "update"


# -- where it is written -----------------------------------------------------------------------------------------------


def place_of(source: Source, finding: Finding, pairs: Sequence[tuple[CallUse, Argument]]) -> Place:
    name = finding.parameter or ""
    found: dict[int, Place] = {}
    for use, argument in pairs:
        if argument.written is not None:
            if argument.written.path != source.path:
                raise NoRepairError(f"`{name}` is written in {argument.written.path}, line {argument.written.line}")
            offset = source.offset(argument.written.line, argument.written.column)
            places = [each for each in _written(source, name) if source.span(each.node)[0] == offset]
        else:
            put = [s for s in argument.trace or use.trace if s.note == f"`{name}` is put into the dict here"]
            if put and put[-1].path != source.path:
                raise NoRepairError(f"`{name}` is put into a dict in {put[-1].path}, line {put[-1].line}")
            places = _written(source, name)
            if put:
                places = [each for each in places if _is_on(source, each.node, put[-1].line)]
            else:
                # Not told: then it must be the only one round the call.
                call = source.named(use.location, ast.Call) if use.location.path == source.path else None
                function = source.function(call) if call is not None else None
                places = [each for each in places if call is not None and source.function(each.node) is function]
        if len(places) != 1:
            raise NoRepairError(f"where `{name}` is written cannot be told")
        found[id(places[0].node)] = places[0]
    if len(found) != 1:
        raise NoRepairError(f"`{name}` is written in several places")
    return next(iter(found.values()))


def _is_on(source: Source, node: ast.AST, line: int) -> bool:
    first = node.lineno  # type: ignore[attr-defined]
    statement = source.statement(node)
    return first == line or (statement.lineno == line and not isinstance(statement, ast.If | ast.For | ast.While))


def _written(source: Source, name: str) -> list[Place]:
    """Every place of a file that gives something under this name."""
    found: list[Place] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == name:
                    text = source.of(keyword)
                    found.append(Place(keyword, node, text[text.index("=") + 1 :].strip()))
            if _is_setdefault(node, name) and isinstance(statement := source.parents[node], ast.Expr):
                found.append(Place(statement, None, source.of(node.args[1])))
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and key.value == name:
                    items = source.items(node)
                    end = items.spans[items.index(source.span(key)[0])][1]
                    text = source.text[source.span(key)[1] : end]
                    found.append(Place(key, node, text[text.index(":") + 1 :].strip()))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            key_node = node.targets[0].slice
            if isinstance(key_node, ast.Constant) and key_node.value == name:
                found.append(Place(node, None, source.of(node.value)))
    return found


def _is_setdefault(node: ast.Call, name: str) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "setdefault"
        and len(node.args) == 2
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == name
    )


def function_called(source: Source, finding: Finding, use: CallUse, argument: Argument) -> ast.expr:
    """The expression for what is called in the end."""
    place = argument.location
    if place is not None:
        call = source.named(place, ast.Call) if place.path == source.path else None
        if isinstance(call, ast.Call) and (chain(call.func) or [""])[-1] == "partial" and call.args:
            return call.args[0]
    if use.location.path != source.path:
        # The caller decides, and asks for itself: who passes keywords on does not know what is meant.
        named = imported_as(source, use.callee.dotted)
        if named is None:
            where = f"{use.location.path}, line {use.location.line}"
            text = f"`{finding.parameter}` goes to the call in {where}: `{use.callee.dotted}` is not imported here"
            raise NoRepairError(f"{text}, to be asked whether it takes it")
        return named
    call = source.named(use.location, ast.Call)
    if not isinstance(call, ast.Call):
        raise NoRepairError("the call cannot be found")
    partial = _partial_of(source, call)
    return partial.args[0] if partial is not None else call.func


def _partial_of(source: Source, call: ast.Call) -> ast.Call | None:
    """The ``partial(...)`` that is called, or that the name of what is called was assigned, once, in the same block."""
    found = call if (chain(call.func) or [""])[-1] == "partial" and call.args else None
    if found is None and isinstance(call.func, ast.Name):
        name, function = call.func.id, source.function(call)
        body = function.body if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else source.tree.body
        made = [each for each in within(body) if name in binds(each)]
        value = getattr(made[0], "value", None) if len(made) == 1 else None
        if isinstance(value, ast.Call) and (chain(value.func) or [""])[-1] == "partial" and value.args:
            found = value
    return found


# -- what is written instead -----------------------------------------------------------------------------------------


def repairs(wishes: Sequence[Wish], source: Source) -> list[Repair]:
    """The repairs of a file: what is written in one statement is fixed together."""
    by_statement: dict[ast.stmt, list[Wish]] = {}
    for each in wishes:
        by_statement.setdefault(source.statement(each.place.node), []).append(each)
    return [_repair(statement, found, source) for statement, found in by_statement.items()]


def _repair(statement: ast.stmt, wishes: list[Wish], source: Source) -> Repair:
    wishes = list({(id(each.place.node), each.finding.fingerprint): each for each in wishes}.values())
    edits: list[Edit] = []
    holders: dict[ast.AST | None, list[Wish]] = {}
    for each in wishes:
        holders.setdefault(each.place.holder, []).append(each)
    for holder, found in holders.items():
        if holder is None or (isinstance(holder, ast.Call) and _is_update(holder, statement, found)):
            edits += _under_a_test(source, statement, found)
        else:
            assert isinstance(holder, ast.Call | ast.Dict)
            edits += _in_brackets(source, statement, holder, found)
    names = ", ".join(dict.fromkeys(f"`{each.finding.parameter}`" for each in wishes))
    kept = [each for each in wishes if each.probe is not None]
    how = (
        f"pass {names} only where the installed build takes it" if kept else f"leave out {names}, which is the default"
    )
    lost = "; ".join(dict.fromkeys(each.lost for each in wishes if each.lost))
    return Repair(
        tuple(each.finding for each in wishes),
        source.path,
        tuple(edits),
        how,
        Safety.UNSAFE if lost else Safety.SAFE,
        lost,
        tuple(each.probe for each in kept if each.probe is not None),
    )


def _is_update(holder: ast.Call, statement: ast.stmt, wishes: list[Wish]) -> bool:
    """Whether a statement does nothing but put these into a dict."""
    return (
        isinstance(statement, ast.Expr)
        and statement.value is holder
        and isinstance(holder.func, ast.Attribute)
        and holder.func.attr == "update"
        and not holder.args
        and len(holder.keywords) == len(wishes)
        and len({each.probe for each in wishes}) == 1
        and wishes[0].probe is not None
    )


def _under_a_test(source: Source, statement: ast.stmt, wishes: list[Wish]) -> list[Edit]:
    """A statement of its own goes under a test."""
    probe = wishes[0].probe
    assert probe is not None
    test = asked(source, probe)
    comment = _comment(source, source.indent_at(source.span(statement)[0]), wishes)
    if not source.stands_alone(statement):
        raise NoRepairError("several statements share the line")
    parent = source.parents[statement]
    if isinstance(parent, ast.If) and parent.body == [statement] and not parent.orelse:
        edit = _further_condition(source, parent, test)
        above = source.line_start(source.span(parent)[0])
        if edit is not None and source.text[above:].lstrip().startswith("if"):
            comment = _comment(source, source.indent_at(above), wishes)
            return [Edit(above, above, comment), edit] if comment else [edit]
    start, end = source.span(statement)
    if any("\n" in source.of(n) for n in ast.walk(statement) if isinstance(n, ast.Constant | ast.JoinedStr)):
        raise NoRepairError("the statement holds a text of several lines")
    first, indent = source.line_start(start), source.indent_at(start)
    last = source.line_end(end)
    lines = source.text[first:last].split("\n")
    moved = "\n".join(f"    {line}" if line.strip() else line for line in lines)
    return [Edit(first, last, f"{comment}{indent}if {test}:\n{moved}")]


def _further_condition(source: Source, parent: ast.If, test: str) -> Edit | None:
    condition = parent.test
    plain = isinstance(condition, ast.Name | ast.Attribute | ast.Call | ast.Compare | ast.UnaryOp | ast.Subscript)
    if not plain and not (isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And)):
        return None
    start, end = source.span(condition)
    line = source.text[source.line_start(start) : source.line_end(end)].rstrip("\n")
    if source.line_of(start) == source.line_of(end) and len(line) + len(test) + 5 <= source.width:
        if source.text[end:].lstrip()[0] == ":":
            return Edit(end, end, f" and {test}")
    elif isinstance(condition, ast.BoolOp) and source.line_of(start) < source.line_of(end):
        indent = source.indent_at(source.span(condition.values[-1])[0])
        return Edit(end, end, f"\n{indent}and {test}")
    return None


def _in_brackets(source: Source, statement: ast.stmt, holder: ast.Call | ast.Dict, wishes: list[Wish]) -> list[Edit]:
    """An item of a call or of a dict is taken out, and put in where the build takes it."""
    items = source.items(holder)
    indices = {items.index(source.span(each.place.node)[0]): each for each in wishes}
    asking = {index: each for index, each in indices.items() if each.probe is not None}
    if not asking:
        return [items.rebuilt(drop=indices)]
    target = _dict_that_is_made(source, statement, holder)
    if not all(_is_calm(each.place.value) for each in asking.values()) or not source.stands_alone(statement):
        target = None
        before = False
    else:
        before = target is None and _is_all_there_is(statement, holder) and isinstance(holder, ast.Call)
    if target is None and not before:
        dropped = [index for index in indices if index not in asking]
        replaced = {index: _inline(source, each, holder) for index, each in asking.items()}
        return [items.rebuilt(drop=dropped, replace=replaced)]
    start, end = source.span(statement)
    indent = source.indent_at(start)
    name = target or _name_for_more(source, holder)
    blocks: list[str] = []
    tests: dict[str, list[tuple[int, Wish]]] = {}
    for index, each in sorted(asking.items()):
        assert each.probe is not None
        tests.setdefault(asked(source, each.probe), []).append((index, each))
    told: set[str | None] = set()
    for test, found in tests.items():
        alike = [each for each in asking.values() if each.lost == found[0][1].lost and each.lost not in told]
        told.add(found[0][1].lost)
        blocks.append(f"{_comment(source, indent, alike)}{indent}if {test}:\n")
        for index, each in found:
            blocks += [f"{indent}    {line}\n" for line in items.comments_before(index)]
            head = f"{indent}    {name}[{source.quoted(each.finding.parameter or '')}] = "
            blocks.append(f"{head}{_whole(source, head, each.place)}\n")
    text = "".join(blocks)
    if target is not None:
        behind = source.line_end(end)
        text = text if source.text[behind - 1 : behind] == "\n" else f"\n{text}"
        return [items.rebuilt(drop=indices), Edit(behind, behind, text)]
    first = source.line_start(start)
    return [Edit(first, first, f"{indent}{name} = {{}}\n{text}"), items.rebuilt(drop=indices, append=f"**{name}")]


def _dict_that_is_made(source: Source, statement: ast.stmt, holder: ast.Call | ast.Dict) -> str | None:
    """The name that a dict gets, where that is all that a statement does."""
    is_dict = isinstance(holder, ast.Dict) or (isinstance(holder.func, ast.Name) and holder.func.id == "dict")
    if not is_dict:
        return None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is holder:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is holder:
        target = statement.target
    else:
        return None
    return source.of(target) if chain(target) else None


def _is_all_there_is(statement: ast.stmt, holder: ast.AST) -> bool:
    """Whether a statement does nothing before the call but look up a name, and nothing else at all."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return):
        return False
    if isinstance(value, ast.Await):
        value = value.value
    return value is holder and isinstance(holder, ast.Call) and chain(holder.func) is not None


def _is_calm(value: str) -> bool:
    """Whether it makes no difference when a value is worked out a little earlier or later."""
    stirring = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Lambda, ast.comprehension)
    return not any(isinstance(node, stirring) for node in ast.walk(ast.parse(f"({value}\n)")))


def _whole(source: Source, head: str, place: Place) -> str:
    """A value as it may stand outside of the brackets that it stood in, behind the head of an assignment."""
    value, indent = place.value, head[: len(head) - len(head.lstrip())]
    if "\n" not in value:
        if len(head) + len(value) <= source.width or value[0] in "([{\"'":
            return value
        return f"(\n{indent}    {value}\n{indent})"
    lines = [line.strip() for line in value.split("\n")]
    broken_inside = any(line[-1:] in "([{," or line[:1] in ")]}" or "#" in line for line in lines)
    if not broken_inside:
        flat = " ".join(lines)
        if len(head) + len(flat) <= source.width:
            return flat
        if len(indent) + 4 + len(flat) <= source.width:
            return f"(\n{indent}    {flat}\n{indent})"
    was = source.indent_at(source.span(place.node)[0])
    inner = "" if _needs_no_brackets(value) else "    "
    moved = [line.replace(was, indent + inner, 1) if line.startswith(was) else line for line in value.split("\n")]
    text = "\n".join(moved)
    return f"(\n{indent}    {text}\n{indent})" if inner else text


def _needs_no_brackets(value: str) -> bool:
    """Whether a value may stand by itself, with a line for each of its own."""
    try:
        ast.parse(value)
    except SyntaxError:
        return False
    return True


def _name_for_more(source: Source, holder: ast.Call | ast.Dict) -> str:
    function = source.function(holder)
    if function is None:
        return fresh(source, "_kwargs")
    names = _names_in(function)
    return next(name for name in ("kwargs", "optional_kwargs", "more_kwargs", "extra_kwargs") if name not in names)


def _names_in(function: ast.AST) -> set[str]:
    found = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return found | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def _inline(source: Source, each: Wish, holder: ast.Call | ast.Dict) -> str:
    """The item where it stands, as a dict that is empty where the build does not take it."""
    assert each.probe is not None
    test = asked(source, each.probe)
    entry = f"{{{source.quoted(each.finding.parameter or '')}: {each.place.value}}}"
    flat = f"**({entry} if {test} else {{}})"
    start, _ = source.span(each.place.node)
    indent = source.indent_at(start)
    if len(indent) + len(flat) + 1 <= source.width or "\n" in entry:
        return flat
    inner = f"{indent}    "
    return f"**(\n{inner}{entry}\n{inner}if {test}\n{inner}else {{}}\n{indent})"


def _comment(source: Source, indent: str, wishes: Sequence[Wish]) -> str:
    """What is lost where it is left out, above the test."""
    lost = "; ".join(dict.fromkeys(each.lost for each in wishes if each.lost))
    if not lost:
        return ""
    *most, last = dict.fromkeys(f"`{each.finding.parameter}`" for each in wishes)
    names = f"{', '.join(most)} and {last}" if most else last
    words = f"Releases without {names}: {lost}.".split()
    lines: list[str] = []
    for word in words:
        if lines and len(indent) + len(lines[-1]) + len(word) + 1 <= source.width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"# {word}")
    return "".join(f"{indent}{line}\n" for line in lines)
