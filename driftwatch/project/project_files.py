"""What the files say in which a project is described: pyproject.toml, setup.cfg and setup.py.

Enters: the text of one. Leaves: its requirements as they are written, and what of it is not known: where it is broken,
of another form than it has to be, or only comes about when it runs. Nothing is executed.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from driftwatch.project.requirement_texts import Places, table_of
from driftwatch.system.python_text import without_warnings
from driftwatch.system.toml import TomlError, parse

_MOST_INI_LINES = 20_000
"""What configparser says of a broken file grows with each line that is wrong."""
_INI_PLACE = re.compile(r"^While reading from [^\[]*(?:\[line +\d+\])?: ")
_TITLES = {str: "text", int: "a number", float: "a number", bool: "true or false", dict: "a table", list: "a list"}


@dataclass(frozen=True, slots=True)
class Written:
    """A requirement as it is written: its text, the extra or group that it is for, and the line that it stands on."""

    text: str
    group: str
    line: int
    source: str


@dataclass(frozen=True, slots=True)
class Described:
    """What a file says of a project. `faults` are the lines from which on something is not known, each with why."""

    name: str = ""
    python: object = None
    requirements: tuple[Written, ...] = ()
    included: tuple[tuple[int, str], ...] = ()
    """Requirements files that it has its requirements from, each with the line that names it."""
    faults: tuple[tuple[int, str], ...] = ()


def of_pyproject(text: str) -> Described:
    """What a pyproject.toml says."""
    try:
        document = parse(text)
    except TomlError as error:
        return Described(faults=((error.line, error.reason),))
    project, places = table_of(document, "project"), Places(text)
    lists = [("", "dependencies", project.get("dependencies", []))]
    written: list[Written] = []
    faults: list[tuple[int, str]] = []

    def place(key: str) -> int:
        head = re.search(rf"""(?m)^[ \t]*(?:\[+[^\]\n]*)?["']?{re.escape(key)}["']?[ \t]*[=\]]""", text)
        return head.start() if head else 0

    for owner, key in ((document, "project"), (project, "optional-dependencies"), (document, "dependency-groups")):
        table = owner.get(key, {})
        if not isinstance(table, dict):
            faults.append((places.of("", place(key))[0], f"`{key}` is {_kind(table)} and not a table"))
        elif key != "project":
            lists += [(group, group, value) for group, value in table.items()]
    for group, key, value in lists:
        start = place(key)
        line = places.of("", start)[0]
        if not isinstance(value, list):
            faults.append((line, f"`{key}` is {_kind(value)} and not a list of requirements"))
            continue
        for each in value:
            if isinstance(each, str):
                written.append(Written(each, group, *places.of(each, start)))
            elif not (isinstance(each, dict) and "include-group" in each):
                faults.append((line, f"`{key}` has {_kind(each)} in it where a requirement has to be"))
    tools = table_of(document, "tool")
    poetry = table_of(tools, "poetry")
    if "dependencies" in poetry and "dependencies" not in project:
        line = places.of("", place("tool.poetry.dependencies"))[0]
        faults.append((line, "the requirements of `tool.poetry` are not read"))
    dynamic = table_of(table_of(table_of(tools, "setuptools"), "dynamic"), "dependencies").get("file", [])
    files = [dynamic] if isinstance(dynamic, str) else dynamic if isinstance(dynamic, list) else []
    included = tuple((places.of("", place("dependencies"))[0], each) for each in files if isinstance(each, str))
    name = str(project.get("name") or "")
    return Described(name, project.get("requires-python"), tuple(written), included, tuple(faults))


def of_setup_cfg(text: str) -> Described:
    """What a setup.cfg says."""
    if text.count("\n") > _MOST_INI_LINES:
        return Described(faults=((_MOST_INI_LINES, f"it has more than {_MOST_INI_LINES:,} lines"),))
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        line = getattr(error, "lineno", None) or next((n for n, _ in getattr(error, "errors", ())), 1)
        return Described(faults=((int(line), _INI_PLACE.sub("", error.message.partition("\n")[0])),))
    places = Places(text)
    lists = [("", parser.get("options", "install_requires", fallback=""))]
    if parser.has_section("options.extras_require"):
        lists += parser.items("options.extras_require")
    return Described(
        parser.get("metadata", "name", fallback=""),
        parser.get("options", "python_requires", fallback=None),
        tuple(
            Written(line.strip(), group, *places.of(line.strip(), 0))
            for group, value in lists
            for line in value.splitlines()
        ),
    )


def of_setup_py(text: str) -> Described:
    """What a setup.py says as it is written; what it works out when it runs is not known."""
    try:
        with without_warnings():
            tree = ast.parse(text)
    except SyntaxError as error:
        return Described(faults=((error.lineno or 1, f"it is not Python: {error.msg}"),))
    except (ValueError, RecursionError, MemoryError):
        return Described(faults=((1, "it cannot be parsed"),))
    lines = text.split("\n")
    names = _constants(tree)
    written: list[Written] = []
    faults: list[tuple[int, str]] = []
    keywords = {keyword.arg: keyword.value for call in _calls_of_setup(tree) for keyword in call.keywords}
    for key in ("install_requires", "extras_require"):
        value = keywords.get(key)
        for group, part in _groups(value, names) if key == "extras_require" else [("", value)]:
            found = list(_texts(part, names)) if part is not None else []
            written += [Written(each, group, line, lines[line - 1]) for each, line in found if each]
            if not all(each for each, _ in found):
                faults.append((part.lineno if part else 1, f"it is not run, and `{key}` is not written out"))
    if None in keywords:
        faults.append((keywords[None].lineno, "it is not run, and what it gives `setup` is not written out"))
    name, python = (_text(keywords.get(key)) for key in ("name", "python_requires"))
    return Described(name, python, tuple(written), (), tuple(faults))


def _kind(value: object) -> str:
    return _TITLES.get(type(value), "a date")


# -- setup.py ----------------------------------------------------------------------------------------------------------


def _calls_of_setup(tree: ast.Module) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) == "setup"
    ]


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What names of the module stand for that are bound once, and used in the call of `setup` alone."""
    passed = {id(node) for call in _calls_of_setup(tree) for node in ast.walk(call)}
    elsewhere = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in passed)
    return {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and elsewhere[node.targets[0].id] == 1
    }


def _groups(value: ast.expr | None, names: dict[str, ast.expr]) -> Iterator[tuple[str, ast.expr | None]]:
    """The extras in a dict, each with its requirements; of what is no dict that is written out, the whole of it."""
    if isinstance(value, ast.Name):
        value = names.get(value.id, value)
    if not isinstance(value, ast.Dict):
        yield "", value
        return
    for key, part in zip(value.keys, value.values, strict=True):
        yield _text(key) or "", part if key is not None else ast.copy_location(ast.Call(part, [], []), part)


def _texts(node: ast.expr, names: dict[str, ast.expr]) -> Iterator[tuple[str, int]]:
    """The texts in a list that is written out, with their lines; no text for each part of it that is not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from ((line.strip(), node.lineno) for line in node.value.splitlines() if line.strip())
    elif isinstance(node, ast.List | ast.Tuple):
        for each in node.elts:
            yield from _texts(each, names)
    elif isinstance(node, ast.Starred):
        yield from _texts(node.value, names)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _texts(node.left, names)
        yield from _texts(node.right, names)
    elif isinstance(node, ast.Name) and node.id in names:
        yield from _texts(names[node.id], {name: bound for name, bound in names.items() if name != node.id})
    else:
        yield "", node.lineno


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
