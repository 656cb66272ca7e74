"""The law of conservation: programs are executed with a library that notes who calls it, and analysed.

Enters: programs. Leaves: those of which a call is neither a use nor out of sight.
"""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import CallUse
from tests.flow.carriers import Carried
from tests.flow.marked import history

Place = tuple[str, int]


@contextmanager
def library() -> Iterator[list[Place]]:
    """The library, and where it is called from: by the file and the line of the program."""
    places: list[Place] = []

    def called(*args: object, **kwargs: object) -> object:
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith("program_"):
            frame = frame.f_back
        if frame is not None:
            places.append((frame.f_code.co_filename, frame.f_lineno))
        return 1

    class Workspace:
        def __init__(self, *args: object, **kwargs: object) -> None:
            called()

        fits = called

    def create(*args: object, **kwargs: object) -> Workspace:
        called()
        return Workspace.__new__(Workspace)

    top, comm = types.ModuleType("lib"), types.ModuleType("lib.comm")
    top.comm = comm  # type: ignore[attr-defined]
    for name, value in {"fuse": called, "create": create, "Workspace": Workspace}.items():
        setattr(comm, name, value)
    before = {name: sys.modules.get(name) for name in ("lib", "lib.comm")}
    sys.modules.update({"lib": top, "lib.comm": comm})
    try:
        yield places
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def execute(path: str, program: Carried) -> None:
    """Execute a program, which may end as it likes: with what the library gives, not every one goes on to its end."""
    scope: dict[str, object] = {"__name__": path.removesuffix(".py")}
    sys.modules[path.removesuffix(".py")] = module = types.ModuleType(path.removesuffix(".py"))
    module.__dict__.update(scope)
    try:
        with suppress(Exception):
            exec(compile(program.text, path, "exec", dont_inherit=True), module.__dict__)  # this repository's own text
        for name in ("put_away", "run"):
            with suppress(Exception):
                getattr(module, name, bool)(1)
    finally:
        asyncio.set_event_loop(None)
        del sys.modules[path.removesuffix(".py")]


def lost(folder: Path, programs: Sequence[Carried]) -> tuple[list[tuple[Carried, int]], int]:
    """The programs of which a call is neither a use nor out of sight, with its line; and how many called at all."""
    paths = {f"program_{i}.py": program for i, program in enumerate(programs)}
    with library() as places:
        for path, program in paths.items():
            execute(path, program)
            (folder / path).write_text(program.text, encoding="utf-8")
    analysis = analyse(folder, [folder / path for path in paths], [history()])
    used = {(use.location.path, use.location.line) for use in analysis.uses if isinstance(use, CallUse)}
    said = {each.path for each in analysis.unresolved}
    missed = [(path, line) for path, line in dict.fromkeys(places) if (path, line) not in used and path not in said]
    return [(paths[path], line) for path, line in missed], len({path for path, _ in places})
