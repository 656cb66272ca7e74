"""Questions to the installed build: the flag that a module has for one, or else a new flag in the module's style.

Enters: a file, and what an expression names. Leaves: the expression that a repair tests, and the edits that make it
possible: one import, one function and one flag for each question, at the top of the module.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from driftwatch.repair.model import Edit, NoRepairError, Probe, Repair
from driftwatch.repair.names import binds, chain, fresh, module_binding, surely_bound, visible, within
from driftwatch.repair.text import Source

_HELPER = "_takes"
_BODY = '''\
    """Whether the installed function takes a parameter; False if it cannot be told."""
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
'''


# -- what the module has already -------------------------------------------------------------------------------------


def known_flags(source: Source, callee: str, parameter: str) -> list[str]:
    """Expressions of the module that seem to say whether a callee, by its last name, takes a parameter."""
    found: list[str] = []
    for statement in within(source.tree.body):
        value = getattr(statement, "value", None)
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None:
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if not names or not surely_bound(names[0], source.tree.body):
            continue
        texts = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
        if parameter in texts and _mentions(source, value, callee):
            found.append(names[0])
        elif isinstance(value, ast.Call | ast.Attribute) and callee not in texts and _is_listing(source, value, callee):
            found.append(f"{source.quoted(parameter)} in {names[0]}")
    return list(dict.fromkeys(found))


def _mentions(source: Source, value: ast.expr, callee: str, depth: int = 3) -> bool:
    """Whether an expression, or what one of its names was assigned, speaks of a callee."""
    for node in ast.walk(value):
        said = (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "value", None))
        if callee in [each for each in said if isinstance(each, str)]:
            return True
    if not depth:
        return False
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    assigned = [s for s in within(source.tree.body) if isinstance(s, ast.Assign) and binds(s) & names]
    return any(_mentions(source, each.value, callee, depth - 1) for each in assigned if each.value is not value)


def _is_listing(source: Source, value: ast.expr, callee: str) -> bool:
    calls = [chain(node.func) or [""] for node in ast.walk(value) if isinstance(node, ast.Call)]
    looks = any(parts[-1] == "signature" for parts in calls)
    lists = "parameters" in [node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)]
    return looks and lists and _mentions(source, value, callee, 0)


# -- a new one -------------------------------------------------------------------------------------------------------


def new_probe(source: Source, function: ast.expr, parameter: str, place: ast.AST, *, always: bool) -> Probe:
    """A question that may be asked at a place; `always` says that every checked release has the function.

    Where the module itself can get at the function, it asks once; else it is asked at the place. The expression may be
    one that the file does not have yet.
    """
    parts = chain(function)
    if parts is None:
        raise NoRepairError("what is called has no plain name")
    text = ".".join(parts)
    bound = module_binding(source, parts[0])
    of_function = source.function(place)
    shadowed = of_function is not None and _is_local(source, parts[0], place)
    if bound is not None and not shadowed and len(parts) <= 2:
        # What may be one of several things is asked where it is used: only there is it known which.
        after = _behind_imports(source, bound)
        if of_function is not None or source.span(source.statement(place))[0] > after:
            asked = text if len(parts) == 1 or always else f"getattr({parts[0]}, {source.quoted(parts[1])}, None)"
            return Probe(asked, parameter, _flag_name(source, parts[-1], parameter), after)
    here = function in source.parents and source.statement(place) is source.statement(function)
    if not here and not visible(source, parts[0], place):
        raise NoRepairError(f"`{text}` is not there where `{parameter}` is written")
    top = next((each for each in (place, *source.above(place)) if each in source.tree.body), None)
    before = source.line_start(_top(source, top)) if of_function is None and isinstance(top, ast.stmt) else 0
    return Probe(text, parameter, before=before)


def _is_local(source: Source, name: str, place: ast.AST) -> bool:
    """Whether a function round a place has a variable of this name."""
    for node in source.above(place):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            if name in {each.arg for each in given if each is not None}:
                return True
            if any(name in binds(each) for each in within(node.body)):
                return True
        elif isinstance(node, ast.Lambda | ast.comprehension):
            return True
    return False


def _flag_name(source: Source, function: str, parameter: str) -> str:
    name = f"_{function.lstrip('_')}_takes_{parameter}"
    flags = [
        target.id
        for statement in within(source.tree.body)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant | ast.Compare)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]
    lower = sum(flag.islower() for flag in flags)
    return fresh(source, name.lower() if lower > len(flags) - lower else name.upper())


def _behind_imports(source: Source, statement: ast.stmt) -> int:
    """Behind a top-level statement, and behind the imports that follow it."""
    body = source.tree.body
    last = body.index(statement)
    for i, each in enumerate(body[last + 1 :], last + 1):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        if isinstance(each, ast.Import | ast.ImportFrom):
            last = i
    return source.line_end(source.span(body[last])[1])


# -- what it looks like ----------------------------------------------------------------------------------------------


def asked(source: Source, probe: Probe) -> str:
    """The expression that a repair tests."""
    return probe.flag or f"{helper_name(source)}({probe.function}, {source.quoted(probe.parameter)})"


def helper_name(source: Source) -> str:
    return _HELPER if _has_helper(source) else fresh(source, _HELPER)


def _has_helper(source: Source) -> bool:
    return any(
        isinstance(each, ast.FunctionDef) and each.name == _HELPER and "inspect.signature(function)" in source.of(each)
        for each in source.tree.body
    )


def edits_of(source: Source, repairs: Iterable[Repair]) -> list[Edit]:
    """All edits of some repairs of a file, with what they need at its top."""
    made = list(repairs)
    probes = [probe for repair in made for probe in repair.probes if probe.flag is None or probe.after]
    return [*groundwork(source, probes), *(edit for repair in made for edit in repair.edits)]


def groundwork(source: Source, probes: Iterable[Probe]) -> list[Edit]:
    """The edits at the top of a module that let it ask these questions."""
    wanted = list(dict.fromkeys(probes))
    if not wanted:
        return []
    edits: list[Edit] = []
    in_place = any(probe.flag is None for probe in wanted)
    groups: dict[int, list[Probe]] = {}
    for probe in wanted:
        if probe.flag is not None:
            groups.setdefault(probe.after, []).append(probe)
    made = _has_helper(source)
    if not made:
        modules = ["functools", "inspect"] if in_place else ["inspect"]
        edits += _imports(source, modules)
        if not groups or in_place:
            groups.setdefault(min([_first_place(source), *(p.before for p in wanted if p.before)]), [])
    for after in sorted(groups):
        blocks: list[str] = []
        if not made:
            typed = any(isinstance(n, ast.FunctionDef) and (n.returns or _typed(n)) for n in ast.walk(source.tree))
            head = "(function, parameter: str) -> bool:" if typed else "(function, parameter):"
            decorator = "@functools.cache\n" if in_place else ""
            blocks.append(f"\n\n{decorator}def {helper_name(source)}{head}\n{_BODY}")
            made = True
        if groups[after]:
            gap = "\n\n" if blocks else "\n"
            blocks.append(gap + "".join(_flag(source, probe) for probe in groups[after]))
        text = "".join(blocks)
        if edits and edits[-1].start == after:
            edits[-1] = replace(edits[-1], text=f"{edits[-1].text.rstrip()}\n")
        text += "\n" * max(0, (1 if groups[after] else 2) - _blank_lines(source, after))
        edits.append(Edit(after, after, text))
    return edits


def _typed(function: ast.FunctionDef) -> bool:
    return any(each.annotation is not None for each in function.args.args)


def _flag(source: Source, probe: Probe) -> str:
    head, arguments = f"{probe.flag} = {helper_name(source)}(", f"{probe.function}, {source.quoted(probe.parameter)}"
    if len(head) + len(arguments) + 1 <= source.width:
        return f"{head}{arguments})\n"
    if 4 + len(arguments) <= source.width:
        return f"{head}\n    {arguments}\n)\n"
    return f"{head}\n    {probe.function},\n    {source.quoted(probe.parameter)},\n)\n"


def _blank_lines(source: Source, offset: int) -> int:
    """How many lines are empty from an offset on; enough where the file ends there."""
    rest = source.lines[source.line_of(offset) - 1 :] if offset < len(source.text) else []
    if not any(line.strip() for line in rest):
        return 2
    return next(i for i, line in enumerate(rest) if line.strip())


def _first_place(source: Source) -> int:
    """Behind what a module begins with: its imports, and what stands between them and the first definition."""
    last: ast.stmt | None = None
    for statement in source.tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        last = statement
    return source.line_end(source.span(last)[1]) if last is not None else 0


def _imports(source: Source, modules: Sequence[str]) -> list[Edit]:
    """The imports of modules of the standard library, sorted into the first block of imports there is."""
    body = source.tree.body
    present = {
        alias.name
        for statement in body
        if isinstance(statement, ast.Import)
        for alias in statement.names
        if alias.asname is None
    }
    wanted = [module for module in modules if module not in present]
    for module in wanted:
        if any(module in binds(statement) for statement in within(body)):
            raise NoRepairError(f"the module has something else by the name `{module}`")
    start = 0
    while start < len(body) and _comes_first(body[start]):
        start += 1
    plain = []
    for statement in body[start:]:
        if not isinstance(statement, ast.Import):
            break
        if statement.names[0].name.partition(".")[0] not in sys.stdlib_module_names:
            break
        plain.append(statement)
    edits: list[Edit] = []
    for module in wanted:
        behind = [statement for statement in plain if statement.names[0].name < module]
        if plain:
            offset = (
                source.line_end(source.span(behind[-1])[1]) if behind else source.line_start(source.span(plain[0])[0])
            )
            edits.append(Edit(offset, offset, f"import {module}\n"))
            continue
        if start < len(body):
            offset = source.line_start(_top(source, body[start]))
            follows = isinstance(body[start], ast.ImportFrom) and (
                (body[start].module or "").partition(".")[0] in sys.stdlib_module_names  # type: ignore[attr-defined]
            )
            gap = "" if follows or module != wanted[-1] else "\n"
        else:
            offset, gap = len(source.text), ""
        edits.append(Edit(offset, offset, f"import {module}\n{gap}"))
    return edits


def _top(source: Source, statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min(source.span(each)[0] for each in (statement, *decorators))


def _comes_first(statement: ast.stmt) -> bool:
    """A docstring, or an import that must come first."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
