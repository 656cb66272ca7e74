"""Run inside the environment that `doctor` looks at, as text given to its Python; it imports nothing of driftwatch.

Enters: one JSON object on standard input: ``distributions`` to look up, ``modules`` to import (only when asked for).
Leaves: one JSON object on the last line of standard output. Whatever an import raises or prints is a fact, not a
failure.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import platform
import sys
import time
from typing import Any


def versions(names: list[str]) -> dict[str, str | None]:
    """The installed version of each distribution; None where there is none."""
    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def attempt(module: str) -> dict[str, Any]:
    """What importing a module does, and how long it takes."""
    start = time.perf_counter()
    error = None
    try:
        importlib.import_module(module)
    except BaseException as problem:  # noqa: BLE001 - any exception at all is the answer
        text = str(problem).strip().splitlines()
        error = {"type": type(problem).__name__, "message": text[0] if text else ""}
    return {"module": module, "error": error, "seconds": round(time.perf_counter() - start, 2)}


def accelerator() -> dict[str, Any] | None:
    """What torch sees, when it is already imported; it is never imported for this alone."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    facts: dict[str, Any] = {"cuda": getattr(torch.version, "cuda", None), "devices": 0, "peer_access": None}
    try:
        facts["devices"] = torch.cuda.device_count()
        if facts["devices"] > 1:
            facts["peer_access"] = all(
                torch.cuda.can_device_access_peer(0, other) for other in range(1, facts["devices"])
            )
    except Exception as problem:  # noqa: BLE001 - a driver may fail in any way
        facts["error"] = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return facts


def main() -> None:
    asked = json.loads(sys.stdin.read())
    answer: dict[str, Any] = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": f"{platform.system()} {platform.machine()}",
        "versions": versions(asked["distributions"]),
        "imports": [attempt(module) for module in asked["modules"]],
    }
    answer["torch"] = accelerator()
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
