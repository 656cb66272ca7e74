"""A Python file as text, as `ast` and as tokens: where things stand in it, and what an edit of it looks like.

Enters: the bytes of a file. Leaves: offsets of nodes, items of brackets, indentation; and the file's bytes again with
edits made, each byte that no edit touches kept: the byte order mark, the encoding, and each line's own end.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from driftwatch.flow.uses import Location
from driftwatch.repair.model import Edit, NoRepairError
from driftwatch.system.python_text import SourceError, decode, without_warnings

_OPENING, _CLOSING = "([{", ")]}"
_LINE_END = re.compile(r"\r\n|\r|\n")
Placed = ast.expr | ast.stmt | ast.keyword | ast.ExceptHandler | ast.alias


@dataclass(frozen=True, slots=True)
class Token:
    """A token that means something, by offsets."""

    start: int
    end: int
    text: str


class Source:
    """One file. `NoRepairError` where it is no Python that can be read."""

    def __init__(self, path: str, data: bytes, width: int = 88) -> None:
        self.path, self.data, self.width = path, data, width
        try:
            self.text = decode(data)
            with without_warnings():
                self.tree = ast.parse(self.text)
        except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NoRepairError(f"{path} cannot be read as Python") from error
        self.lines = self.text.split("\n")
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    # -- places ----------------------------------------------------------------------------------------------------

    def offset(self, line: int, column: int) -> int:
        """Of a place in characters; both begin at 1."""
        return self._starts[line - 1] + column - 1

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def line_start(self, offset: int) -> int:
        return self._starts[self.line_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Behind the end of the line that an offset is in."""
        return min(self._starts[self.line_of(offset)], len(self.text))

    def span(self, node: Placed) -> tuple[int, int]:
        """The offsets of a node, parentheses round it not included."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def of(self, node: Placed) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def _at(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="replace"))
        return self._starts[line - 1] + column

    def indent_at(self, offset: int) -> str:
        line = self.lines[self.line_of(offset) - 1]
        return line[: len(line) - len(line.lstrip())]

    # -- nodes -----------------------------------------------------------------------------------------------------

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        found: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                found[child] = node
        return found

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is in, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is in, or is."""
        return next(each for each in (node, *self.above(node)) if isinstance(each, ast.stmt))

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        """The function that a node is in."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        return next((each for each in self.above(node) if isinstance(each, kinds)), None)

    def body_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The block that a statement is in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        raise NoRepairError("the block of the statement cannot be told")

    def in_try(self, statement: ast.stmt) -> list[Edit]:
        """Edits that put a statement with lines of its own under a ``try:``; what handles it comes behind it."""
        start, end = self.span(statement)
        first, behind = self.line_start(start), self.line_end(end)
        edits = [Edit(first, first, f"{self.indent_at(start)}try:\n")]
        line = first
        while line < behind:
            if self.text[line : self.line_end(line)].strip():
                edits.append(Edit(line, line, "    "))
            line = self.line_end(line)
        return edits

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether the lines of a statement are its own: nothing else before it, and no other statement behind it."""
        start, end = self.span(statement)
        before = self.text[self.line_start(start) : start]
        behind = self.text[end : self.line_end(end)].strip()
        return not before.strip() and (not behind or behind.startswith("#"))

    def named(self, place: Location, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> ast.AST | None:
        """The outermost node of a kind that stands exactly at a place."""
        wanted = (self.offset(place.line, place.column), self.offset(place.end_line, place.end_column))
        for node in ast.walk(self.tree):
            if isinstance(node, kind) and self.span(node) == wanted:  # type: ignore[arg-type]
                return node
        return None

    # -- tokens ----------------------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        skipped = {
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        }
        try:
            found = [
                Token(self._starts[t.start[0] - 1] + t.start[1], self._starts[t.end[0] - 1] + t.end[1], t.string)
                for t in tokenize.generate_tokens(io.StringIO(self.text).readline)
                if t.type not in skipped
            ]
        except (tokenize.TokenError, SyntaxError) as error:
            raise NoRepairError(f"{self.path} cannot be taken apart") from error
        return tuple(found)

    @cached_property
    def _opened(self) -> Mapping[int, int]:
        """For the end of each closing bracket, the index of the token that opens it."""
        stack: list[int] = []
        found: dict[int, int] = {}
        for i, token in enumerate(self.tokens):
            if token.text in _OPENING and token.text:
                stack.append(i)
            elif token.text in _CLOSING and token.text and stack:
                found[token.end] = stack.pop()
        return found

    def items(self, node: ast.expr) -> Items:
        """What stands between the brackets with which an expression ends, item by item."""
        return self.bracket(self.span(node)[1])

    def bracket(self, end: int) -> Items:
        """What stands in the brackets that close before an offset."""
        if end not in self._opened:
            raise NoRepairError("the arguments cannot be taken apart")
        first = self._opened[end]
        spans: list[tuple[int, int]] = []
        start: int | None = None
        last, depth = self.tokens[first].end, 0
        for token in self.tokens[first + 1 :]:
            if token.end == end:
                break
            if token.text == "," and depth == 0:
                if start is not None:
                    spans.append((start, last))
                start = None
                continue
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            start = token.start if start is None else start
            last = token.end
        if start is not None:
            spans.append((start, last))
        return Items(self, self.tokens[first].end, end - 1, tuple(spans))

    @cached_property
    def _quote(self) -> str:
        """The quotation mark that the file prefers."""
        one_line = (token.text for token in self.tokens if token.text[:3] not in ("'''", '"""'))
        marks = Counter(text[:1] for text in one_line if text[:1] in ("'", '"'))
        return "'" if marks["'"] > marks['"'] else '"'

    def quoted(self, text: str) -> str:
        """A text without quotation marks as a literal, in the file's style."""
        return f"{self._quote}{text}{self._quote}"

    # -- changed ---------------------------------------------------------------------------------------------------

    def changed(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes with some edits made, which must not overlap."""
        mark = codecs.BOM_UTF8 if self.data.startswith(codecs.BOM_UTF8) else b""
        raw, encoding = self._raw
        result, done = [], 0
        for edit in sorted(edits, key=lambda each: (each.start, each.end)):
            start, end = self._in_raw(edit.start), self._in_raw(edit.end)
            if start < done:
                raise NoRepairError("two edits of one place")
            result += [raw[done:start], edit.text.replace("\n", self.newline)]
            done = end
        try:
            return mark + "".join((*result, raw[done:])).encode(encoding)
        except UnicodeEncodeError:
            raise NoRepairError("the file's encoding has no such character") from None

    def byte_offset(self, offset: int) -> int:
        """Where an offset of the text is among the bytes of the file."""
        raw, encoding = self._raw
        mark = len(codecs.BOM_UTF8) if self.data.startswith(codecs.BOM_UTF8) else 0
        return mark + len(raw[: self._in_raw(offset)].encode(encoding))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, in characters, from 1."""
        return self.line_of(offset), offset - self.line_start(offset) + 1

    def _in_raw(self, offset: int) -> int:
        """An offset in the text with its own line ends: one character is one, but for line ends of two."""
        return offset + bisect_right(self._double, offset - 1)

    @cached_property
    def _double(self) -> list[int]:
        ends = [found.span() for found in _LINE_END.finditer(self._raw[0])]
        newlines = [start - 1 for start in self._starts[1:-1]]
        return [place for place, (start, end) in zip(newlines, ends, strict=False) if end - start == 2]

    @cached_property
    def newline(self) -> str:
        """The line end that the file begins with."""
        found = _LINE_END.search(self._raw[0])
        return found[0] if found else "\n"

    def raw(self, data: bytes) -> str:
        """The text of bytes in the file's encoding, with their own line ends."""
        return data.removeprefix(codecs.BOM_UTF8).decode(self._raw[1])

    @cached_property
    def _raw(self) -> tuple[str, str]:
        """The text with its line ends, and its encoding."""
        bare = self.data.removeprefix(codecs.BOM_UTF8)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(self.data).readline)
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        return bare.decode(encoding), encoding


@dataclass(frozen=True, slots=True)
class _Item:
    """`lead` stands before it, comments of its own included; `tail` is the comma and what follows it on the line."""

    lead: str
    core: str
    tail: str


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a bracket, by offsets; `start` and `end` are those of what stands inside of it."""

    source: Source
    start: int
    end: int
    spans: tuple[tuple[int, int], ...]

    def index(self, offset: int) -> int:
        """Which item an offset is in."""
        for i, (start, end) in enumerate(self.spans):
            if start <= offset < end:
                return i
        raise NoRepairError("the argument cannot be found")

    def has_comment(self, index: int) -> bool:
        """Whether an item has a comment of its own, above it or behind it."""
        part = self._parts()[0][index]
        return "#" in part.lead or "#" in part.tail

    def comments_before(self, index: int) -> list[str]:
        """The comments in lines of their own directly above an item that has its lines to itself."""
        lead = self._parts()[0][index].lead
        lines = [line.strip() for line in lead.split("\n") if line.strip()]
        return lines if all(line.startswith("#") for line in lines) else []

    def rebuilt(self, drop: Iterable[int] = (), replace: Mapping[int, str] | None = None, append: str = "") -> Edit:
        """The bracket without some items, with others replaced, and with one more behind them.

        An item to a line stays so; else it is laid out anew where a line would be too long, or need not be broken.
        """
        parts, rest = self._parts()
        dropped = set(drop)
        kept: list[_Item] = []
        lead = ""
        for i, part in enumerate(parts):
            if i in dropped:
                if "\n" in part.lead and "\n" not in part.tail:
                    lead = part.lead[: len(part.lead) - len(part.lead.lstrip())]
                elif "\n" in part.tail and kept and "\n" not in kept[-1].tail:
                    kept[-1] = _with_tail(kept[-1], ",\n")
                continue
            kept.append(_Item(lead or part.lead, (replace or {}).get(i, part.core), part.tail))
            lead = ""
        if not kept:
            return Edit(self.start, self.end, append)
        indent = self._indent(kept)
        last, end = kept[-1], parts[-1].tail
        if self._is_tall(parts):
            if append:
                comma = last.tail if "," in last.tail.split("#")[0] else f",{last.tail}"
                kept[-1:] = [_with_tail(last, comma), _Item(indent, append, ",\n" if "," in end else "\n")]
            kept = [_Item(item.lead, self._broken(item.core, indent), item.tail) for item in kept]
            return Edit(self.start, self.end, "".join(f"{i.lead}{i.core}{i.tail}" for i in kept) + rest)
        if append:
            kept[-1:] = [_with_tail(last, ", "), _Item("", append, end)]
        else:
            kept[-1] = _with_tail(last, end)
        text = "".join(f"{i.lead}{i.core}{i.tail}" for i in kept) + rest
        cores = [item.core for item in kept]
        if "#" not in text and not any("\n" in core for core in cores):
            text = self._laid_out(cores) or text
        return Edit(self.start, self.end, text)

    def _is_tall(self, parts: list[_Item]) -> bool:
        """Whether each item has its own line."""
        behind = parts[-1].tail
        return "\n" in behind and ("," in behind.split("#")[0] or all("\n" in part.tail for part in parts))

    def _laid_out(self, cores: list[str]) -> str | None:
        """The items in one line, in one line of their own, or in a line each, whichever fits first."""
        source = self.source
        text = source.text
        before = text[source.line_start(self.start) : self.start]
        behind = text[self.end : source.line_end(self.end)].rstrip("\n")
        indent = source.indent_at(self.start)
        flat = ", ".join(cores)
        nested = sum(map(before.count, _OPENING)) - sum(map(before.count, _CLOSING)) > 1 or ":" in before
        if len(before) + len(flat) + len(behind) <= source.width or nested or len(behind) > 1:
            # Where other brackets are broken is not decided here.
            return flat
        inner = f"{indent}    "
        if len(inner) + len(flat) <= source.width and not any(core.startswith("*") for core in cores[:-1]):
            return f"\n{inner}{flat}\n{indent}"
        return "\n" + "".join(f"{inner}{self._broken(core, inner)},\n" for core in cores) + indent

    def _broken(self, core: str, indent: str) -> str:
        """One of two dicts that is passed, in a line for each where it takes more than one; anything else as it is."""
        if len(indent) + len(core) < self.source.width or "\n" in core or not core.startswith("**("):
            return core
        text = core[2:]
        choice = ast.parse(text, mode="eval").body
        if not isinstance(choice, ast.IfExp):
            return core
        body, test, other = (ast.get_source_segment(text, each) for each in (choice.body, choice.test, choice.orelse))
        return f"**(\n{indent}    {body}\n{indent}    if {test}\n{indent}    else {other}\n{indent})"

    def _indent(self, kept: list[_Item]) -> str:
        """That of an item which begins a line."""
        found = next((item.lead.rpartition("\n")[2] for item in kept if item.lead), "")
        return found if not found.strip() else self.source.indent_at(self.spans[-1][0])

    def _parts(self) -> tuple[list[_Item], str]:
        """The items with all that stands round them, and what is left before the closing bracket."""
        text = self.source.text
        parts: list[_Item] = []
        lead = text[self.start : self.spans[0][0]] if self.spans else ""
        for i, (start, end) in enumerate(self.spans):
            until = self.spans[i + 1][0] if i + 1 < len(self.spans) else self.end
            behind = text[end:until]
            newline = _first_newline(behind)
            cut = newline + 1 if newline is not None else len(behind)
            if i + 1 == len(self.spans) and newline is None:
                cut = behind.find(",") + 1
            parts.append(_Item(lead, text[start:end], behind[:cut]))
            lead = behind[cut:]
        return parts, lead


def _with_tail(item: _Item, tail: str) -> _Item:
    return _Item(item.lead, item.core, tail)


def _first_newline(text: str) -> int | None:
    """The first line end behind the comma, or the first of all where there is none."""
    found = text.find("\n", max(text.split("#", maxsplit=1)[0].find(","), 0))
    return found if found >= 0 else None
