"""Account for every mention of the library in releases of real projects: analysed, unresolved, or out of scope.

    python scripts/precision.py sglang==0.5.23 vllm==0.33.0 path/to/checkout
    python scripts/precision.py --list vllm==0.33.0

Enters: releases of the package index, or folders. Leaves: one row of figures for each, and with ``--list`` each mention
that no use of the analysis covers. It looks for mentions in its own way, with `tokenize` and `ast` and by name alone,
so that what the analysis never saw is seen here: every token that spells the library's import path; every name that an
import of it binds, in that file and in the files that import it from there; every alias such a name is given.
"""

from __future__ import annotations

import argparse
import ast
import collections
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from driftwatch.flow.project import Analysis, analyse
from driftwatch.project.discovery import find_roots
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.sources.fetch import SCHEME, fetch_project
from driftwatch.snapshot.store import store

ANALYSED, UNRESOLVED, MISSED = "analysed", "unresolved", "not covered"
COMMENT, TEXT, ANNOTATION, CARRIED = "comment", "text", "annotation", "carried"
OUT_OF_SCOPE = (COMMENT, TEXT, ANNOTATION, CARRIED)


@dataclass(frozen=True, order=True)
class Mention:
    """One place. `what` is `ANALYSED` and so on; `text` is what stands there."""

    path: str
    line: int
    what: str
    text: str


@dataclass
class Source:
    """A file as this script sees it. `names` are those that hold something of the library, `attributes` on ``self``,
    each with the class it is in."""

    path: str
    text: str
    tree: ast.Module
    names: set[str] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    classes: dict[ast.AST, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                for child in ast.walk(node):
                    self.classes[child] = node.name

    def attribute(self, node: ast.Attribute) -> tuple[str, str]:
        """An attribute of ``self``: that of another class is another one."""
        return self.classes.get(node, ""), node.attr


class Places:
    """Where the analysis recorded something."""

    def __init__(self, analysis: Analysis) -> None:
        self.used: dict[str, list[tuple[int, int]]] = collections.defaultdict(list)
        self.led: dict[str, set[int]] = collections.defaultdict(set)
        self.unresolved: dict[str, set[int]] = collections.defaultdict(set)
        for use in analysis.uses:
            self.used[use.location.path].append((use.location.line, use.location.end_line))
            for step in use.trace:
                self.led[step.path].add(step.line)
        for each in analysis.unresolved:
            self.unresolved[each.path].add(each.line)

    def judge(self, path: str, first: int, last: int, *, steps: bool = False) -> str:
        """Whether a use was recorded in these lines; with `steps`, or on the way to one."""
        if any(begin <= last and first <= end for begin, end in self.used[path]):
            return ANALYSED
        if steps and any(first <= line <= last for line in self.led[path]):
            return ANALYSED
        return UNRESOLVED if any(first <= line <= last for line in self.unresolved[path]) else MISSED


def account(root: Path, history: History) -> tuple[list[Mention], Analysis]:
    """Every mention of the library below a folder."""
    (found,), _ = find_roots([root.resolve()], base=root.resolve())
    analysis = analyse(found.folder, found.files, [history])
    places = Places(analysis)
    files = map(Path, found.files)
    contents = {file.relative_to(found.folder).as_posix(): file.read_bytes() for file in files}
    sources: dict[str, Source] = {}
    _spread(contents, sources, history.module)
    mentions = [m for source in sources.values() for m in _of_file(source, history.module, places)]
    return sorted(set(mentions)), analysis


def _read(path: str, content: bytes) -> Source | None:
    try:
        text = content.decode("utf-8-sig")
        return Source(path, text, ast.parse(text))
    except (ValueError, SyntaxError, RecursionError):
        print(f"not read: {path}", file=sys.stderr)
        return None


# -- names that hold something of the library --------------------------------------------------------------------------


def _spread(contents: dict[str, bytes], sources: dict[str, Source], root: str) -> None:
    """Read the files that lead to the library, and find the names by which they do, until there are no more."""
    top = root.partition(".")[0].encode()
    for path, content in contents.items():
        source = _read(path, content) if top in content else None
        if source is not None:
            sources[path] = source
            for node in ast.walk(source.tree):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    source.names |= {bound for module, bound in _imported(node) if _within(module, root)}
            _aliases(source)
    told: set[str] = set()
    while True:
        names = {name for source in sources.values() for name in source.names} - told
        if not names:
            return
        told |= names
        wanted = re.compile(rb"\b(" + b"|".join(sorted(n.encode() for n in names)) + rb")\b")
        for path, content in contents.items():
            if b"import" in content and wanted.search(content):
                source = sources.get(path) or _read(path, content)
                if source is not None and _take_over(source, sources):
                    sources[path] = source


def _take_over(source: Source, sources: dict[str, Source]) -> bool:
    """Whether a file imports from another one a name that leads to the library."""
    before = len(source.names)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            other = _file_of(sources, node.module)
            if other is not None and other is not source:
                source.names |= {a.asname or a.name for a in node.names if a.name in other.names}
    _aliases(source)
    return len(source.names) != before


def _file_of(sources: dict[str, Source], module: str) -> Source | None:
    path = module.replace(".", "/")
    for candidate in (f"{path}.py", f"{path}/__init__.py"):
        if candidate in sources:
            return sources[candidate]
    return None


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The full path of everything an import statement imports, and the name it is bound to."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.name, alias.asname
    elif node.level == 0 and node.module:
        for alias in node.names:
            yield f"{node.module}.{alias.name}", alias.asname or alias.name


def _within(module: str, root: str) -> bool:
    return module == root or module.startswith(root + ".")


def _aliases(source: Source) -> None:
    """``x = comm``, ``self.x = comm.f``: the target holds something of the library too."""
    changed = True
    while changed:
        changed = False
        for node in ast.walk(source.tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if not _leads(source, node.value):
                        continue
                    if isinstance(target, ast.Name) and target.id not in source.names:
                        source.names.add(target.id)
                        changed = True
                    elif isinstance(target, ast.Attribute) and _on_self(target):
                        if source.attribute(target) not in source.attributes:
                            source.attributes.add(source.attribute(target))
                            changed = True


def _on_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _leads(source: Source, node: ast.AST) -> bool:
    """Whether an expression is such a name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        if _on_self(node):
            return source.attribute(node) in source.attributes
        node = node.value
    return isinstance(node, ast.Name) and node.id in source.names


# -- mentions ----------------------------------------------------------------------------------------------------------


def _of_file(source: Source, root: str, places: Places) -> Iterator[Mention]:
    if root.partition(".")[0] in source.text:
        yield from _spelled(source, root, places)
    if source.names or source.attributes:
        yield from _named(source, places)


def _spelled(source: Source, root: str, places: Places) -> Iterator[Mention]:
    """Tokens that spell the import path: comments, texts, import statements."""
    pattern = re.compile(re.escape(root) + r"\b")
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and pattern.search(token.string):
            yield Mention(source.path, token.start[0], COMMENT, token.string.strip())
    whole = re.compile(re.escape(root) + r"(\.\w+)*")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and pattern.search(node.value):
            last = node.end_lineno or node.lineno
            names = whole.fullmatch(node.value) is not None
            covered = places.judge(source.path, node.lineno, last, steps=True)
            what = covered if names and covered != MISSED else TEXT
            yield Mention(source.path, node.lineno, what, repr(node.value[:60]))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            paths = [module for module, _ in _imported(node)] if isinstance(node, ast.ImportFrom) else []
            paths += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(_within(path, root) for path in paths):
                last = node.end_lineno or node.lineno
                what = places.judge(source.path, node.lineno, last)
                if what == MISSED and _only_for_types(source.tree, node):
                    what = ANNOTATION
                yield Mention(source.path, node.lineno, what, ast.unparse(node))


def _only_for_types(tree: ast.Module, wanted: ast.AST) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            if any(child is wanted for child in ast.walk(node)):
                return True
    return False


def _named(source: Source, places: Places) -> Iterator[Mention]:
    """Reads of the names that lead to the library: a call or an attribute is a use, all else carries it on."""
    annotations = _annotations(source.tree)
    parents = {child: node for node in ast.walk(source.tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(source.tree):
        held = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in source.names
        if isinstance(node, ast.Attribute) and _on_self(node) and isinstance(node.ctx, ast.Load):
            held = source.attribute(node) in source.attributes
        if not held:
            continue
        top: ast.AST = node
        while isinstance(parents.get(top), ast.Attribute):
            top = parents[top]
        above = parents.get(top)
        if isinstance(above, ast.Call) and above.func is top:
            top = above
        first, last = node.lineno, getattr(top, "end_lineno", None) or node.lineno  # type: ignore[attr-defined]
        if node in annotations:
            what = ANNOTATION
        else:
            what = places.judge(source.path, first, last)
            if top is node and what == MISSED:
                what = CARRIED
        yield Mention(source.path, first, what, ast.unparse(top).partition("\n")[0][:80])


def _annotations(tree: ast.Module) -> set[ast.AST]:
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found |= set(ast.walk(value))
    return found


# -- the figures -------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="NAME==VERSION | PATH")
    parser.add_argument("--list", action="store_true", help="print each mention that no use covers")
    options = parser.parse_args()
    history = store.load(store.shipped() / "flashinfer-python")
    columns = (ANALYSED, UNRESOLVED, *OUT_OF_SCOPE, MISSED)
    print("| tree | mentions |", " | ".join(columns), "| places listed by --unresolved |")
    for given in options.inputs:
        root = Path(given) if Path(given).exists() else fetch_project(f"{SCHEME}{given}").path
        mentions, analysis = account(root, history)
        counts = collections.Counter(m.what for m in mentions)
        figures = " | ".join(str(counts[c]) for c in columns)
        print(f"| {given} | {len(mentions)} | {figures} | {len(analysis.unresolved)} |")
        if options.list:
            for mention in mentions:
                if mention.what not in (ANALYSED, COMMENT):
                    print(f"    {mention.path}:{mention.line}: {mention.what}: {mention.text}")
            for place in analysis.unresolved:
                print(f"    {place.path}:{place.line}: {place.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
