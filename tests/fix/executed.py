"""Run programs against stubs of every release and say what reached the library: the child of the test of repairs.

Reads JSON lines as `tests.differential.execute` does, and answers each program with one line: by release, for the
import and then for each call, how it ended, what unwound a frame of the program, and each call of the library with the
values that its parameters got, defaults included. Nothing of driftwatch is imported.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "differential"))

from execute import Program, Stub, Watch  # type: ignore[import-not-found]

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def shown(value: object) -> str:
    return ADDRESS.sub("", repr(value))[:200]


class Recorded:
    """What one run does: the exceptions in frames of the program, and the calls of the library, in order."""

    def __init__(self, paths: set[str], folder: str) -> None:
        self.watch = Watch(paths)
        self.folder = folder
        self.calls: list[list[Any]] = []
        self.helped: list[str] = []

    def traced(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename.startswith(self.folder):
            caller = frame.f_back.f_code.co_filename if frame.f_back is not None else ""
            if event == "call" and code.co_name not in ("__getattr__", "<module>") and caller in self.watch.paths:
                own = {name: shown(value) for name, value in frame.f_locals.items() if name not in ("self", "cls")}
                self.calls.append([code.co_name, own])
            return None
        return self.watch.called(frame, event, arg)

    def run(self, action: Any) -> tuple[dict[str, Any], Any]:
        value, ended = None, None
        sys.settrace(self.traced)
        try:
            value = action()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - pytest.skip raises one
            ended = f"{type(error).__name__}: {error}"
        finally:
            sys.settrace(None)
        events = [f"{each['type']}: {each['text']}" for each in self.watch.record(None)["events"]]
        return {"ended": ended, "value": shown(value), "events": events, "calls": self.calls}, value


def run(program: Any, main: str, calls: Any, unknown: object, folder: str) -> list[dict[str, Any]]:
    for name in program.code:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, program)
    try:
        first, module = Recorded(program.paths, folder).run(lambda: importlib.import_module(main))
        first["value"] = ""
        found = [first]
        for name, given in calls if module is not None else ():
            arguments = {key: unknown if value == "?" else value for key, value in given.items()}
            function = getattr(module, name, None)
            if function is not None:
                found.append(Recorded(program.paths, folder).run(lambda f=function, a=arguments: f(**a))[0])
        return found
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
        found: dict[str, Any] = {}
        for release, stub in stubs.items():
            stub.enter()
            try:
                unknown = sys.modules[f"{top}._stub_support"].UNKNOWN
                found[release] = run(program, job["main"], job["calls"], unknown, setting["stubs"][release])
            finally:
                stub.exit()
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
