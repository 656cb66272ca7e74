"""Tables of a TOML file, read key by key: each value has the type it must have, or is a `ConfigError` with its line.

Enters: a file, or data that stands for one. Leaves: frozen `Table` objects, which are mappings of what is written and
answer with checked values. It is the one place where driftwatch says what is wrong with a file of settings or data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from driftwatch.errors import ConfigError
from driftwatch.system import atomic_files
from driftwatch.system.toml import TomlError, parse

T = TypeVar("T")
_SHOWN = 60
_ITS_NAME = ("id", "distribution", "name")
"""The keys by which an entry of an array of tables is told from the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Table(Mapping[str, Any]):
    """A table as it is written.

    `file` is what the file is called, `name` what the table is called in a message, "" for the whole file. `text` is
    the file's text and `start` where in it the table begins, so that a mistake is told with its line.
    """

    data: Mapping[str, Any]
    file: str
    name: str = ""
    text: str = ""
    start: int = 0

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    # -- what is in it -------------------------------------------------------------------------------------------------

    def only(self, known: Iterable[str]) -> None:
        """Refuse any other key."""
        names = list(known)
        for key in self.data:
            if key not in names:
                near = get_close_matches(key.replace("_", "-").lower(), names, n=1, cutoff=0.6)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
                raise self.error(f"unknown key {key!r}", key, hint)

    def string(self, key: str, default: str | None = None) -> str:
        """A string that is not empty; it must be there where there is no default."""
        found = self.maybe(key)
        if found is not None:
            return found
        if default is None:
            raise self.error(f"{key!r} is missing")
        return default

    def maybe(self, key: str, what: str = "a string that is not empty") -> str | None:
        """A string that is not empty, None where the key is not there."""
        value = self.data.get(key)
        if key in self.data and (not isinstance(value, str) or not value.strip()):
            raise self.wrong(key, what)
        return value

    def one_of(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """One of a few texts."""
        value = self.data.get(key, default)
        if value not in allowed:
            raise self.wrong(key, f"one of {', '.join(allowed)}")
        return str(value)

    def read_as(self, key: str, read: Callable[[str], T], what: str) -> T | None:
        """A text as something that is made of it; `what` names it where `read` raises ValueError or SyntaxError."""
        value = self.maybe(key)
        try:
            return None if value is None else read(value)
        except (ValueError, SyntaxError):
            raise self.wrong(key, what) from None

    def strings(self, key: str, what: str = "a list of strings", *, some: bool = False) -> tuple[str, ...]:
        """A list of strings that are not empty, with at least `some` where that is asked for."""
        return self.listed(key, lambda item: isinstance(item, str) and bool(item), what, some=some)

    def one_or_more(self, key: str) -> tuple[str, ...]:
        """A text, or a list of texts."""
        value = self.data.get(key, [])
        return (value,) if isinstance(value, str) and value else self.strings(key, "a string or a list of strings")

    def listed(self, key: str, fits: Callable[[Any], bool], what: str, *, some: bool = False) -> tuple[Any, ...]:
        """A list of which each item fits; `what` says what it must be."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(map(fits, value)) or (some and not value):
            raise self.wrong(key, what)
        return tuple(value)

    def flag(self, key: str, *, default: bool | None = False) -> bool:
        """True or false; it must be there where there is no default."""
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def pairs(self, key: str, what: str = "a table of strings") -> tuple[tuple[str, str], ...]:
        """A table of texts, in the order in which it is written."""
        value = self.data.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            raise self.wrong(key, what)
        return tuple(value.items())

    def table(self, key: str) -> Table | None:
        """A table within this one; None where it is not there."""
        value = self.data.get(key)
        if key in self.data and not isinstance(value, dict):
            raise self.wrong(key, "a table")
        if value is None:
            return None
        return Table(value, self.file, f"[{self._dotted(key)}]", self.text, self._find(key) or self.start)

    def tables(self, key: str) -> tuple[Table, ...]:
        """An array of tables."""
        found: list[Table] = []
        start = self.start
        header = re.compile(rf"^[ \t]*\[\[[^\]\n]*\b{re.escape(key)}[\"']?[ \t]*\]\]", re.MULTILINE)
        rows = self.listed(key, lambda row: isinstance(row, dict), f"an array of tables, [[{self._dotted(key)}]]")
        for number, row in enumerate(rows, 1):
            if place := header.search(self.text, start):
                start = place.end()
            its = next((repr(row[each]) for each in _ITS_NAME if isinstance(row.get(each), str)), str(number))
            above = f" of {self.name}" if self.name.startswith("[[") else ""
            found.append(Table(row, self.file, f"[[{key}]] {its}{above}", self.text, start))
        return tuple(found)

    # -- what is wrong with it -----------------------------------------------------------------------------------------

    def wrong(self, key: str, wanted: str) -> ConfigError:
        """A value that is not what it must be."""
        if key not in self.data:
            return self.error(f"{key!r} must be given, as {wanted}")
        shown = repr(self.data[key])
        shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
        return self.error(f"{key!r} must be {wanted}, not {shown}", key)

    def error(self, message: str, key: str | None = None, hint: str | None = None) -> ConfigError:
        """What is wrong with a key, or with the table as a whole, with its line as far as that can be told."""
        number = self.line(key)
        line = f":{number}" if number is not None else ""
        return ConfigError(f"{self.file}{line}: {message}{f' in {self.name}' if self.name else ''}", hint)

    def line(self, key: str | None) -> int | None:
        """The line of a key, or of the table; None where the text does not tell."""
        place = self._find(key) if key is not None else self.start or None
        return None if place is None else self.text.count("\n", 0, place) + 1

    def _find(self, key: str) -> int | None:
        pattern = re.compile(rf"^[ \t\[]*(?:[\w.\"-]*\.)?[\"']?{re.escape(key)}[\"']?[ \t]*[=\]]", re.MULTILINE)
        found = pattern.search(self.text, self.start)
        return found.start() if found else None

    def _dotted(self, key: str) -> str:
        """A key of this table as the header of a table has it."""
        return f"{self.name[1:-1]}.{key}" if re.fullmatch(r"\[[^\[\]]+\]", self.name) else key


def read(path: Path) -> Table:
    """A TOML file; `ConfigError` with file and line where it cannot be read."""
    try:
        data = atomic_files.read(path)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not valid UTF-8", "TOML files are UTF-8") from None
    try:
        return Table(parse(text), str(path), "", text)
    except TomlError as error:
        raise ConfigError(f"{path}:{error.line}: {error.reason}") from None


def read_if_there(folder: Path | None, name: str) -> Table | None:
    """A file that a folder may have."""
    path = folder / name if folder is not None else None
    return read(path) if path is not None and path.is_file() else None
