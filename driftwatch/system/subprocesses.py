"""Other programs, started so that nothing of the folder that driftwatch is run in becomes part of them.

Enters: a program's name, or a Python with code for it. Leaves: a command and an environment. What is in a scanned
folder nobody knows: no program is looked for there, and no Python that is started imports from there, although ``-c``
and an empty entry of PYTHONPATH mean just that.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_ISOLATED = "import sys; sys.path[:] = [entry for entry in sys.path if entry]; exec(sys.argv.pop())"
"""What Python 3.11 calls ``-P``, for older ones too; ``sys`` is part of the interpreter itself."""


def program(name: str) -> str | None:
    """Where an installed program is, by the absolute folders of PATH alone."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(folder).is_absolute()]
    for folder in folders:
        found = shutil.which(name, path=folder)
        # Windows looks into the working folder first, whatever the path.
        if found is not None and Path(found).is_absolute():
            return found
    return None


def python_command(python: str, source: str) -> list[str]:
    """The command that has a Python of any release run a source."""
    return [python, "-c", _ISOLATED, source]


def python_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment whose PYTHONPATH leads to the same folders wherever the process is."""
    found = dict(os.environ if environment is None else environment)
    entries = [entry for entry in found.pop("PYTHONPATH", "").split(os.pathsep) if Path(entry).is_absolute()]
    if entries:
        found["PYTHONPATH"] = os.pathsep.join(entries)
    return found


@contextmanager
def processes() -> Iterator[str]:
    """How `multiprocessing` may start more processes of this program, as long as the block lasts.

    It starts a fresh Python with ``-c``, and one more that looks after what they share: in Python 3.10 nothing keeps
    those from importing what lies in the working folder, so there the process is copied instead.
    """
    before = {name: os.environ.get(name) for name in ("PYTHONSAFEPATH", "PYTHONPATH")}
    os.environ["PYTHONSAFEPATH"] = "1"
    if before["PYTHONPATH"] is not None:
        os.environ["PYTHONPATH"] = python_environment().get("PYTHONPATH", "")
    try:
        yield "spawn" if hasattr(sys.flags, "safe_path") else "fork"
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
