"""Make any number of programs that carry something of the library along many ways, and say of which a call is lost.

    python benchmarks/conservation.py --programs 20000 --seed 7

Each is executed with a library that notes who calls it, and analysed. Lost is a call that is neither a use nor behind a
place of which the analysis says that something gets out of sight there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.flow.carriers import Carried, some
from tests.flow.conservation import lost
from tests.flow.stores import some_left

BATCH = 250


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--between", action="store_true", help="one function leaves it to another in each")
    parser.add_argument("--show", type=int, default=10, help="how many lost programs to show, the smallest first")
    options = parser.parse_args()
    found: list[tuple[Carried, int]] = []
    called = 0
    begun = time.perf_counter()
    for start in range(0, options.programs, BATCH):
        with tempfile.TemporaryDirectory() as folder:
            number = min(BATCH, options.programs - start)
            # Every other batch leaves what it carries somewhere, for another function to find.
            make = some_left if options.between or start // BATCH % 2 else some
            programs = make(options.seed + start, number)
            missed, calling = lost(Path(folder), programs)
        found += missed
        called += calling
    print(f"{options.programs} programs, seed {options.seed}, {time.perf_counter() - begun:.0f} s")
    print(f"{called} of them call the library; calls lost without a word: {len(found)}")
    for program, line in sorted(found, key=lambda each: len(each[0].text))[: options.show]:
        print("-" * 100)
        print(f"{program.name}, line {line}\n{program.text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
