"""Repairs against Python itself, over any number of generated programs: ``python benchmarks/repairs.py --help``."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from driftwatch.snapshot.model.history import merge
from tests.differential import library
from tests.differential.generate import generate
from tests.differential.menu import Menu
from tests.differential.shipped import shipped, shipped_stubs
from tests.fix.differential import Runner, Tally, held
from tests.stubs import write_stub

BATCH = 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=["small", "flashinfer"])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", action="append", default=[], help="another Python that must read what is written")
    given = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.library == "small":
            snapshots = library.snapshots()
            stubs = {s.release: write_stub(s, folder / "stubs" / s.release, "lib-dist") for s in snapshots}
            history, top = merge("lib-dist", "lib.comm", snapshots), "lib"
        else:
            stubs, history, top = dict(shipped_stubs(folder / "stubs")), shipped(), "flashinfer"
        menu = Menu.of(history)
        end = given.seed + given.programs
        with Runner(stubs, top) as runner:
            for start in range(given.seed, end, BATCH):
                numbers = range(start, min(start + BATCH, end))
                place = folder / str(start)
                place.mkdir()
                held(place, [generate(random.Random(n), menu, f"p{n}") for n in numbers], history, runner, tally)
    print(f"{tally.programs} programs, {tally.changed} changed")
    print(f"fixed: {tally.repaired}\nrefused: {tally.refused}")
    for reason, count in sorted(tally.reasons.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6}  {reason}")
    print(f"wrong: {len(tally.wrong)}")
    print("\n".join(tally.wrong[:3]))
    unread = sum(_unread(python, tally.texts) for python in given.python)
    return 1 if tally.wrong or unread else 0


_READ = """
import json, sys
texts = json.load(sys.stdin)
unread = 0
for text in texts:
    try:
        compile(text, "<repaired>", "exec")
    except SyntaxError:
        unread += 1
print(json.dumps([sys.version.split()[0], len(texts), unread]))
"""


def _unread(python: str, texts: list[str]) -> int:
    """How many changed files another Python cannot compile."""
    done = subprocess.run(
        [python, "-I", "-c", _READ], input=json.dumps(texts), stdout=subprocess.PIPE, check=True, text=True
    )
    version, read, unread = json.loads(done.stdout)
    print(f"Python {version}: {read} changed files, {unread} of them unread")
    return int(unread)


if __name__ == "__main__":
    sys.exit(main())
