"""What a project says of itself: ``[tool.driftwatch]`` in pyproject.toml, or driftwatch.toml.

Enters: a path that is scanned. Leaves: a frozen `Config`, validated in full: a key that is not known, or a value of
another type than it must have, is a `ConfigError` that says where. Nothing is guessed and nothing is inherited: the
nearest file that configures driftwatch, upward from the path, is the only one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from driftwatch import whole
from driftwatch.errors import ConfigError, UsageError
from driftwatch.toml import TomlError, parse

SEVERITIES = ("error", "warning", "note")
FAIL_ON = ("error", "warning", "never")


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that applies. `path` is the file it came from; None where there is none.

    `exclude` and the patterns of `per_file_ignores` are relative to the file's folder. `targets` are the tables of
    ``[[tool.driftwatch.target]]`` as they stand, for the targets to read. `watch` are the code bases that
    ``driftwatch watch`` holds a new release against. `adapter_policy` is a file with more functions and rules for an
    adapter. `lines` says where each key that is set stands in the file.
    """

    path: Path | None = None
    against: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    baseline: Path | None = None
    fail_on: str = "error"
    targets: tuple[Mapping[str, Any], ...] = ()
    watch: tuple[str, ...] = ()
    adapter_policy: Path | None = None
    lines: Mapping[str, int | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def folder(self) -> Path | None:
        """The folder that the file's paths are relative to."""
        return self.path.parent if self.path is not None else None


def discover(path: Path) -> Config:
    """The configuration for a path: the nearest driftwatch.toml, or pyproject.toml with our table, from it upward."""
    start = path.resolve()
    for folder in (start, *start.parents):
        own = folder / "driftwatch.toml"
        if own.is_file():
            return load(own)
        shared = folder / "pyproject.toml"
        # The search for text first: most projects on the way up do not use driftwatch, and may be anything.
        if shared.is_file() and _mentions_us(shared):
            config = _load(shared, required=False)
            if config is not None:
                return config
    return Config()


def config_for(paths: Iterable[Path], base: Path | None = None) -> Config:
    """The configuration of a scan: the one that all its paths share; `UsageError` when they belong to several."""
    found: dict[Path | None, Config] = {}
    for path in paths:
        config = discover((base or Path.cwd()) / path)
        found.setdefault(config.path, config)
    configured = [config for where, config in found.items() if where is not None]
    if len(configured) > 1:
        names = " and ".join(str(config.path) for config in configured[:2])
        raise UsageError(f"the paths have different configurations: {names}", "scan them one after the other")
    return configured[0] if configured else Config()


def load(path: Path) -> Config:
    """The configuration in one file: a pyproject.toml with our table, or any other TOML file that is all ours."""
    config = _load(path, required=True)
    assert config is not None
    return config


def _mentions_us(path: Path) -> bool:
    try:
        return b"driftwatch" in whole.read(path)
    except OSError:
        return False


def _load(path: Path, *, required: bool) -> Config | None:
    text, document = read_toml(path)
    if path.name != "pyproject.toml":
        return _Reader(path, text, "").config(document)
    tool = document.get("tool", {})
    table = tool.get("driftwatch") if isinstance(tool, dict) else None
    if table is None:
        if required:
            raise ConfigError(f"{path} has no table [tool.driftwatch]")
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.driftwatch must be a table")
    return _Reader(path, text, "tool.driftwatch").config(table)


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """A TOML file as text and data; `ConfigError` with file and line when it cannot be read."""
    try:
        data = whole.read(path)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not valid UTF-8", "TOML files are UTF-8") from None
    try:
        return text, parse(text)
    except TomlError as error:
        raise ConfigError(f"{path}:{error.line}: {error.reason}") from None


class _Reader:
    """One table being read; keeps the text, so that a mistake is reported with its line."""

    def __init__(self, path: Path, text: str, table: str) -> None:
        self._path = path
        self._text = text
        self._table = table

    def config(self, table: Mapping[str, Any]) -> Config:
        readers: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
            "against": ("against", self._one_or_more),
            "select": ("select", self._strings),
            "ignore": ("ignore", self._strings),
            "exclude": ("exclude", self._strings),
            "per-file-ignores": ("per_file_ignores", self._per_file),
            "severity": ("severity", self._severities),
            "baseline": ("baseline", self._file),
            "fail-on": ("fail_on", self._fail_on),
            "target": ("targets", self._tables),
            "watch": ("watch", self._one_or_more),
            "adapter-policy": ("adapter_policy", self._file),
        }
        values: dict[str, Any] = {"path": self._path}
        for key, value in table.items():
            if key not in readers:
                raise self._error(key, f"unknown key {key!r}", _suggest(key, readers))
            name, read = readers[key]
            values[name] = read(key, value)
        return Config(**values, lines={key: self._line(key) for key in table})

    def _one_or_more(self, key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self._wrong(key, "a string or a list of strings", value)

    def _strings(self, key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self._wrong(key, "a list of strings", value)

    def _per_file(self, key: str, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if not isinstance(value, dict):
            raise self._wrong(key, "a table of patterns, each with a list of codes", value)
        return tuple((pattern, self._strings(pattern, codes)) for pattern, codes in value.items())

    def _severities(self, key: str, value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            raise self._wrong(key, "a table of codes, each with a severity", value)
        for code, severity in value.items():
            if severity not in SEVERITIES:
                raise self._wrong(code, f"one of {', '.join(SEVERITIES)}", severity)
        return dict(value)

    def _file(self, key: str, value: Any) -> Path:
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "the path of a file", value)
        return self._path.parent / value

    def _fail_on(self, key: str, value: Any) -> str:
        if value not in FAIL_ON:
            raise self._wrong(key, f"one of {', '.join(FAIL_ON)}", value)
        return str(value)

    def _tables(self, key: str, value: Any) -> tuple[Mapping[str, Any], ...]:
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return tuple(value)
        name = f"{self._table}.{key}" if self._table else key
        raise self._wrong(key, f"an array of tables, [[{name}]]", value)

    def _wrong(self, key: str, wanted: str, value: Any) -> ConfigError:
        return self._error(key, f"{key!r} must be {wanted}, not {_show(value)}", None)

    def _error(self, key: str, message: str, hint: str | None) -> ConfigError:
        number = self._line(key)
        line = f":{number}" if number is not None else ""
        where = f" in [{self._table}]" if self._table else ""
        return ConfigError(f"{self._path}{line}: {message}{where}", hint)

    def _line(self, key: str) -> int | None:
        """The line that a key, or the table of that name, stands in, as far as that can be told from the text."""
        start = 0
        if self._table:
            # A key of the same name may stand in another tool's table before ours.
            ours = re.search(rf"^[ \t]*\[+[ \t]*{re.escape(self._table)}\b", self._text, re.MULTILINE)
            start = ours.start() if ours else 0
        pattern = re.compile(rf"^[ \t\[]*(?:[\w.\"-]*\.)?[\"']?{re.escape(key)}[\"']?[ \t]*[=\]]", re.MULTILINE)
        found = pattern.search(self._text, start)
        return self._text.count("\n", 0, found.start()) + 1 if found else None


def _suggest(key: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = get_close_matches(key.replace("_", "-").lower(), names, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
