"""The tools that `peers.py` runs: which versions, with what options, and what their diagnostics say.

Each runs as shipped, with no settings but those below, from a folder that has the code to check and, in a folder beside
it, the library's sources of one release, which its search path names:

- mypy looks into functions without annotations only with ``--check-untyped-defs``, and pyrefly in a folder that has no
  configuration of it leaves most checks out (``--preset basic``). Both are run in both ways.
- mypy has no cache here: a cold run, as those of the others are. It is told to say nothing of files that are only
  imported, which is what it does with a library that is installed, and takes a third of the time.

What a diagnostic claims is told by its rule. `API_RULES` are those that claim that an import, an attribute, a call or
the making of an object fails. Everything else a tool says (types of arguments, overrides, style) is passed over.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cost import ENDED_WELL, Program
from peer_cases import Line

API_RULES = {
    "pyright": {"reportAttributeAccessIssue", "reportCallIssue", "reportAbstractUsage", "reportMissingImports"},
    "mypy": {"attr-defined", "call-arg", "abstract", "import-not-found"},
    "ty": {
        "abstract-class-instantiation",
        "import-not-found",
        "missing-argument",
        "missing-attribute",
        "missing-module-member",
        "no-matching-overload",
        "parameter-already-assigned",
        "positional-only-parameter-as-kwarg",
        "possibly-missing-attribute",
        "possibly-missing-import",
        "possibly-missing-submodule",
        "too-many-positional-arguments",
        "unknown-argument",
    },
    "pyrefly": {
        "bad-argument-count",
        "bad-instantiation",
        "bad-keyword-argument",
        "missing-argument",
        "missing-attribute",
        "missing-import",
        "missing-module-attribute",
        "unexpected-keyword",
    },
    "pylint": {
        "abstract-class-instantiated",
        "import-error",
        "missing-kwoa",
        "no-member",
        "no-name-in-module",
        "no-value-for-parameter",
        "redundant-keyword-arg",
        "too-many-function-args",
        "unexpected-keyword-arg",
    },
}
"""What a tool calls it when an import, an attribute, a call or the making of an object fails."""


@dataclass(frozen=True)
class Diagnostic:
    path: str
    line: int
    rule: str


@dataclass(frozen=True)
class Place:
    """Where a tool runs: the folder with the code, what of it is checked, and where the library is imported from."""

    folder: Path
    checked: str
    library: Path


@dataclass(frozen=True)
class Tool:
    """One of the peers. `options` gives what follows its name, `parse` reads what it prints."""

    name: str
    version: str
    options: Callable[[Place, Path], list[str]]
    parse: Callable[[str], Iterable[Diagnostic]]
    note: str = ""
    environment: Callable[[Place], Mapping[str, str]] = lambda place: {}
    ends: frozenset[int] = ENDED_WELL

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}{f', {self.note}' if self.note else ''}"

    def program(self, environment: Path, place: Place) -> Program:
        command = [str(environment / "bin" / self.name), *self.options(place, environment / "bin" / "python")]
        return Program(command, self.environment(place), place.folder, self.ends)

    def api_lines(self, text: str, place: Place) -> set[Line]:
        """The lines of the checked files of which it says that something of an API is not there, or not so."""
        checked = (place.folder / place.checked).resolve()
        found = set()
        for diagnostic in self.parse(text):
            path = (place.folder / diagnostic.path).resolve()
            if diagnostic.rule in API_RULES[self.name] and path.is_relative_to(checked):
                found.add((path.relative_to(checked).as_posix(), diagnostic.line))
        return found

    def check(self, environment: Path, place: Place) -> set[Line]:
        """`api_lines` of what it prints."""
        done = self.program(environment, place).output()
        return self.api_lines(done, place)


# -- what they print ---------------------------------------------------------------------------------------------------

CONCISE = re.compile(r"(?P<path>[^\n:]+):(?P<line>\d+):\d+: (?:error|warning)\[(?P<rule>[\w-]+)\]")


def of_pyright(text: str) -> Iterable[Diagnostic]:
    for found in json.loads(text)["generalDiagnostics"]:
        yield Diagnostic(found["file"], found["range"]["start"]["line"] + 1, found.get("rule", ""))


def of_mypy(text: str) -> Iterable[Diagnostic]:
    for row in filter(lambda line: line.startswith("{"), text.splitlines()):
        found = json.loads(row)
        if found["severity"] == "error":
            yield Diagnostic(found["file"], found["line"], found["code"] or "")


def of_ty(text: str) -> Iterable[Diagnostic]:
    for match in CONCISE.finditer(text):
        yield Diagnostic(match["path"], int(match["line"]), match["rule"])


def of_pyrefly(text: str) -> Iterable[Diagnostic]:
    for found in json.loads(text)["errors"]:
        yield Diagnostic(found["path"], found["line"], found["name"])


def of_pylint(text: str) -> Iterable[Diagnostic]:
    for found in json.loads(text):
        yield Diagnostic(found["path"], found["line"], found["symbol"])


# -- how they are run --------------------------------------------------------------------------------------------------


def _for_pyright(place: Place, python: Path) -> list[str]:
    settings = place.folder / "pyrightconfig.json"
    settings.write_text(json.dumps({"include": [place.checked], "extraPaths": [".", str(place.library)]}))
    return ["--project", str(settings), "--pythonpath", str(python), "--outputjson"]


def _for_mypy(place: Place, python: Path) -> list[str]:
    settings = ["--config-file=", f"--cache-dir={os.devnull}", f"--python-executable={python}"]
    return [*settings, "--follow-imports=silent", "--output=json", place.checked]


def _for_ty(place: Place, python: Path) -> list[str]:
    settings = place.folder / "ty.toml"
    settings.touch()
    found = ["--python", str(python), "--extra-search-path", str(place.library), "--project", "."]
    return ["check", "--config-file", str(settings), *found, "--output-format=concise", place.checked]


def _for_pyrefly(preset: str) -> Callable[[Place, Path], list[str]]:
    def options(place: Place, python: Path) -> list[str]:
        settings = place.folder / "pyrefly.toml"
        settings.touch()
        found = ["--search-path=.", f"--search-path={place.library}", f"--python-interpreter-path={python}"]
        return ["check", f"--config={settings}", f"--preset={preset}", *found, "--output-format=json", place.checked]

    return options


def _for_pylint(place: Place, python: Path) -> list[str]:
    # A folder that is no package is nothing to it: its files are, each.
    files = sorted(path.name for path in place.folder.glob("*.py")) if place.checked == "." else [place.checked]
    return [f"--rcfile={os.devnull}", "--output-format=json", *files]


def _search_path(variable: str) -> Callable[[Place], Mapping[str, str]]:
    return lambda place: {variable: os.pathsep.join([str(place.folder), str(place.library)])}


TOOLS = (
    Tool("pyright", "1.1.414", _for_pyright, of_pyright),
    Tool("mypy", "2.4.1", _for_mypy, of_mypy, environment=_search_path("MYPYPATH")),
    Tool(
        "mypy",
        "2.4.1",
        lambda place, python: ["--check-untyped-defs", *_for_mypy(place, python)],
        of_mypy,
        note="`--check-untyped-defs`",
        environment=_search_path("MYPYPATH"),
    ),
    Tool("ty", "0.0.108", _for_ty, of_ty),
    Tool("pyrefly", "1.5.0", _for_pyrefly("basic"), of_pyrefly),
    Tool("pyrefly", "1.5.0", _for_pyrefly("default"), of_pyrefly, note="`--preset default`"),
    Tool(
        "pylint",
        "4.1.4",
        _for_pylint,
        of_pylint,
        environment=_search_path("PYTHONPATH"),
        # Its status is a sum of bits: 32 is a wrong command line, 1 a file that it could not read.
        ends=frozenset(range(32)),
    ),
)
GRIFFE = "2.4.1"
LOAD = "import sys, griffe; griffe.load(sys.argv[1], search_paths=sys.argv[2:])"
"""What of griffe's check takes the time. It looks at the library alone: there are no call sites in it."""


def environment_with(folder: Path) -> tuple[Path, dict[str, str]]:
    """An environment of its own for the tools, and why a tool is not in it, by name.

    What is checked is not installed with what it depends on: `packaging`, which cases use, is there, torch is not.
    """
    if not (folder / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    missing = {}
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = {tool.name: tool.version for tool in TOOLS} | {"griffe": GRIFFE}
    for name, version in wanted.items():
        done = subprocess.run([*pip, f"{name}=={version}", "packaging"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and name != "griffe":
            # The first start of pyright fetches node and itself, where they are not there.
            start = [str(folder / "bin" / name), "--version"]
            done = subprocess.run(start, capture_output=True, text=True, check=False)
        if done.returncode:
            missing[name] = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
    return folder, missing
