"""What real imports of FlashInfer's releases take, recorded once as data: a truth that owes nothing to driftwatch.

    python -m tests.live_parity.record FOLDER

It makes or uses the environment in FOLDER (`environment.py`), imports each release there and writes `signatures.json`
beside this file: for each function of the module, and each class that can be constructed, as `inspect.signature` shows
it, the releases that have it so. ``name=`` stands for a parameter with a default; the marks are those of a ``def``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.live_parity.environment import TORCH, environment, unpacked

DISTRIBUTION = "flashinfer-python"
MODULE = "flashinfer.comm"
RELEASES = ("0.4.1", "0.5.3", "0.6.0", "0.6.3", "0.6.12", "0.7.2", "0.7.4")
DATA = Path(__file__).with_name("signatures.json")
INSPECTOR = Path(__file__).with_name("inspector.py")


def written(parameters: Iterable[tuple[str, str, bool]]) -> str:
    """A signature in one line."""
    words: list[str] = []
    before = ""
    for name, kind, optional in parameters:
        if before == "positional-only" and kind != before:
            words.append("/")
        if kind == "keyword-only" and before not in (kind, "variadic positional"):
            words.append("*")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        words.append(f"{stars}{name}{'=' if optional and not stars else ''}")
        before = kind
    return ", ".join([*words, "/"] if before == "positional-only" else words)


def compact(live: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Of what the inspector wrote for each release: the releases of each signature of each name."""
    found: dict[str, dict[str, list[str]]] = {}
    for release, report in live.items():
        for name, told in report[MODULE]["names"].items():
            taken = told.get("takes") or told.get("parameters")
            constructed = told["kind"] == "class" and not told.get("abstract") and "enum" not in told
            if (constructed or told["kind"] == "function") and taken is not None and not name.startswith("_"):
                found.setdefault(name, {}).setdefault(written(taken), []).append(release)
    return {name: found[name] for name in sorted(found)}


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    prepared = environment(folder)
    live: dict[str, Any] = {}
    for release in RELEASES:
        with tempfile.TemporaryDirectory() as home:
            output = Path(home) / "live.json"
            subprocess.run(
                [prepared.python, INSPECTOR, unpacked(DISTRIBUTION, release, folder), output, *prepared.libraries],
                input=json.dumps({MODULE: []}),
                text=True,
                check=True,
                env={**os.environ, "HOME": home, "FLASHINFER_DISABLE_VERSION_CHECK": "1"},
            )
            live[release] = json.loads(output.read_text(encoding="utf-8"))
    write(live)
    return 0


def write(live: Mapping[str, Mapping[str, Any]]) -> None:
    form = {
        "source": f"inspect.signature of {MODULE} as imported from the wheels of {DISTRIBUTION} on the package index",
        "python": ".".join(map(str, sys.version_info[:2])),
        "torch": TORCH,
        "releases": list(RELEASES),
        "names": compact(live),
    }
    DATA.write_text(json.dumps(form, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
