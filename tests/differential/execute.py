"""Run programs against stub packages and say which lines raised what: the child process of the differential test.

Reads JSON lines from standard input: first ``{"stubs": {release: folder}, "top": package}``, then programs, each
``{"files": {path: source}, "main": module, "calls": [[function, {parameter: value}], ...]}``, where the value ``"?"``
is an object that nothing is known about. Answers each program with one JSON line: a list of ``[releases, outcome]``,
where the releases of one outcome are those in which everything went the same way.

Exceptions are seen where Python itself unwinds a frame of the program, so those that a handler swallows are seen too,
and ``hasattr`` and ``getattr`` with a default, which never unwind one, are not. It stands alone: neither driftwatch nor
the tests are imported, and the stubs of all releases live in this one process, swapped in ``sys.modules``.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
import types
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

FOLLOWED = (TypeError, AttributeError, ImportError)
RESULT = re.compile(r"values to unpack \(expected( at least)? \d+(, got [1-9]\d*)?\)|^tuple index out of range")
"""What is raised where a tuple has another length than was asked for; an unknown value has none."""
AFTER = 12
"""How many lines are kept of what a frame did once an exception had reached it."""


class Stub:
    """The modules of one release, made once; each program that imports one finds it as it was.

    As in a real package, a submodule is an attribute of its package once anything has imported it.
    """

    def __init__(self, top: str, folder: str) -> None:
        self.top = top
        self.folder = folder
        self.modules: dict[str, types.ModuleType] = {}
        self.contents: dict[str, dict[str, Any]] = {}

    def enter(self) -> None:
        leave(self.top)
        sys.path.insert(0, self.folder)
        if not self.modules:
            for name in sorted(self._names()):
                importlib.import_module(name)
                for loaded, module in list(sys.modules.items()):
                    # At once: a submodule that is imported later takes the place of an object of its name.
                    if loaded.partition(".")[0] == self.top and loaded not in self.modules:
                        self.modules[loaded] = module
                        self.contents[loaded] = dict(self._own(module))
            leave(self.top)
        sys.modules.update((n, m) for n, m in self.modules.items() if n.rpartition(".")[2].startswith("_stub"))
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def exit(self) -> None:
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        sys.path.remove(self.folder)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        return ModuleSpec(name, self, is_package=hasattr(self.modules[name], "__path__"))  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        own = self.contents[module.__name__]
        vars(module).clear()
        vars(module).update(own)
        for name in own.get("_loads", ()):
            importlib.import_module(name)
        # An object hides the submodule of its name.
        vars(module).update(own)

    @staticmethod
    def _own(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
        for name, value in vars(module).items():
            if not isinstance(value, types.ModuleType) or value.__name__ != f"{module.__name__}.{name}":
                yield name, value

    def _names(self) -> Iterator[str]:
        root = Path(self.folder)
        for file in (root / self.top).rglob("*.py"):
            parts = file.relative_to(root).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def leave(top: str) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == top]:
        del sys.modules[name]


class Program:
    """The files of one program, importable by their module names, compiled once."""

    def __init__(self, files: dict[str, str]) -> None:
        self.code: dict[str, types.CodeType] = {}
        self.packages: set[str] = set()
        for path, text in files.items():
            name = path.removesuffix(".py").replace("/", ".")
            if name.endswith(".__init__"):
                name = name.removesuffix(".__init__")
                self.packages.add(name)
            self.code[name] = compile(text, path, "exec")
        self.paths = set(files)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.code:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in self.packages)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        exec(self.code[module.__name__], vars(module))


class Watch:
    """What happens in the program's own frames: the lines run and the exceptions that unwound them."""

    def __init__(self, paths: set[str]) -> None:
        self.paths = paths
        self.lines: set[tuple[str, int]] = set()
        self.events: list[dict[str, Any]] = []
        self.raised: list[BaseException] = []
        self.reached: list[tuple[types.FrameType, list[list[Any]]]] = []

    def called(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        return self.traced if frame.f_code.co_filename in self.paths else None

    def traced(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        place = (frame.f_code.co_filename, frame.f_lineno)
        if event == "line":
            self.lines.add(place)
            for seen, after in self.reached:
                if seen is frame and len(after) < AFTER:
                    after.append(list(place))
        elif event == "exception":
            error = arg[1]
            if isinstance(error, FOLLOWED) or RESULT.search(str(error)):
                self.saw(error, frame, place)
        return self.traced

    def saw(self, error: BaseException, frame: types.FrameType, place: tuple[str, int]) -> None:
        number = next((i for i, known in enumerate(self.raised) if known is error), None)
        if number is None:
            number = len(self.raised)
            self.raised.append(error)
            self.events.append({"type": type(error).__name__, "text": str(error), "path": [], "after": []})
            self.reached.append((frame, []))
        path = self.events[number]["path"]
        if list(place) not in path:
            path.append(list(place))
        after: list[list[Any]] = []
        self.reached[number] = (frame, after)
        self.events[number]["after"] = after

    def record(self, error: BaseException | None) -> dict[str, Any]:
        """What was seen, and how the run ended: `chain` is the exception that got out, then what it was raised from.

        A number in the chain is one of `events`; null is an exception of another type.
        """
        chain: list[int | None] = []
        seen: list[BaseException] = []
        current = error
        while current is not None and not any(current is known for known in seen):
            seen.append(current)
            chain.append(next((i for i, known in enumerate(self.raised) if known is current), None))
            current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        ended = None if error is None else f"{type(error).__name__}: {error}"
        self.reached.clear()
        return {"events": self.events, "lines": sorted(map(list, self.lines)), "ended": ended, "chain": chain}


def watched(paths: set[str], action: Any) -> tuple[dict[str, Any], Any]:
    watch = Watch(paths)
    error: BaseException | None = None
    value = None
    sys.settrace(watch.called)
    try:
        value = action()
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001 - pytest.skip raises one
        error = raised
    finally:
        sys.settrace(None)
    return watch.record(error), value


def run(program: Program, main: str, calls: Sequence[Any], unknown: object) -> dict[str, Any]:
    for name in program.code:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, program)
    try:
        loaded, module = watched(program.paths, lambda: importlib.import_module(main))
        records: list[dict[str, Any]] = []
        for name, given in calls if module is not None else ():
            arguments = {key: unknown if value == "?" else value for key, value in given.items()}
            function = getattr(module, name, None)
            if function is None:  # defined in some releases only
                records.append(Watch(set()).record(None))
            else:
                records.append(watched(program.paths, lambda f=function, a=arguments: f(**a))[0])
        return {"import": loaded, "calls": records}
    finally:
        sys.meta_path.remove(program)
        for name in program.code:
            sys.modules.pop(name, None)


def main() -> None:
    setting = json.loads(sys.stdin.readline())
    top = setting["top"]
    stubs = {release: Stub(top, folder) for release, folder in setting["stubs"].items()}
    for line in sys.stdin:
        job = json.loads(line)
        program = Program(job["files"])
        outcomes: dict[str, list[str]] = {}
        for release, stub in stubs.items():
            stub.enter()
            try:
                unknown = sys.modules[f"{top}._stub_support"].UNKNOWN
                record = json.dumps(run(program, job["main"], job["calls"], unknown), sort_keys=True)
            finally:
                stub.exit()
            outcomes.setdefault(record, []).append(release)
        print("[" + ", ".join(f"[{json.dumps(r)}, {text}]" for text, r in outcomes.items()) + "]", flush=True)


if __name__ == "__main__":
    main()
