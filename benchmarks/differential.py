"""Run any number of generated programs against the analysis, and say where they disagree.

    python benchmarks/differential.py --programs 10000 --seed 7

Prints the rate, what was compared, and each kind of disagreement once, as small as it could be made.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from driftwatch.snapshot.model.history import merge
from tests.differential import library
from tests.differential.compare import Comparison, Disagreement
from tests.differential.generate import generate
from tests.differential.menu import Menu
from tests.differential.programs import Program, Run, Runner
from tests.differential.shipped import shipped, shipped_stubs
from tests.differential.shrink import shrink
from tests.differential.truth import Source, UnclassifiedError
from tests.stubs import write_stub

BATCH = 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--functions", type=int, default=4, help="functions in each program")
    parser.add_argument("--library", choices=("small", "flashinfer"), default="flashinfer")
    parser.add_argument("--journeys", action="store_true", help="flags, keywords and exceptions that travel as well")
    parser.add_argument("--show", type=int, default=10, help="how many kinds of disagreement to show")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "programs").mkdir()
        if options.library == "small":
            snapshots = library.snapshots()
            history = merge("lib-dist", "lib.comm", snapshots)
            stubs = {s.release: write_stub(s, folder / "stubs" / s.release, "lib-dist") for s in snapshots}
        else:
            history, stubs = shipped(), dict(shipped_stubs(folder / "stubs"))
        with Runner(stubs, history.module.partition(".")[0]) as runner:
            return run(Comparison(history, runner, folder / "programs"), options)


def run(comparison: Comparison, options: argparse.Namespace) -> int:
    menu = Menu.of(comparison.history)
    kinds: collections.Counter[str] = collections.Counter()
    examples: dict[tuple[str, ...], Disagreement] = {}
    begun = time.perf_counter()
    last = options.seed + options.programs
    for start in range(options.seed, last, BATCH):
        numbers = range(start, min(start + BATCH, last))
        batch = [
            generate(random.Random(number), menu, f"p{number}", options.functions, journeys=options.journeys)
            for number in numbers
        ]
        for each in comparison.of(batch):
            kinds[each.kind] += 1
            examples.setdefault(_kind(each), each)
    seconds = time.perf_counter() - begun
    releases = len(comparison.history.timeline)
    print(f"{options.programs} programs of {options.functions} functions, {releases} releases, seed {options.seed}")
    print(f"{seconds:.1f} s, {options.programs * releases / seconds:.0f} program runs a second, analysis included")
    print(f"disagreements: {dict(kinds) or 'none'}")
    for each in list(examples.values())[: options.show]:
        print("-" * 100)
        print(_smallest(each, comparison))
    return 1 if kinds else 0


def _kind(each: Disagreement) -> tuple[str, ...]:
    """What makes two disagreements look like one defect: what was expected, and the form of the line."""
    line = each.program.files[each.place[0]].splitlines()[each.place[1] - 1]
    words = "".join(c if not c.isalnum() else "a" for c in line.strip())
    return each.kind, each.expected.split(":")[0], each.got.split(" ")[0], "".join(dict.fromkeys(words))


def _smallest(each: Disagreement, comparison: Comparison) -> Disagreement:
    ends = {run.ended for run in _runs(each.program, comparison)} | {None}
    ran = _ran(each, comparison)

    def again(program: Program) -> Disagreement | None:
        try:
            found = list(comparison.of([program]))
        except UnclassifiedError:  # a program cut down too far
            return None
        same = (each.kind, each.expected, each.got)
        return next(
            (d for d in found if (d.kind, d.expected, d.got) == same and _sound(d, comparison, ends, ran)), None
        )

    if again(each.program) is None:
        return each
    return again(shrink(each.program, lambda program: again(program) is not None)) or each


def _runs(program: Program, comparison: Comparison) -> list[Run]:
    outcomes = comparison.runner.run(program).values()
    return [run for o in outcomes for run in (o.imported, *(run for calls in o.calls for run in calls))]


def _ran(each: Disagreement, comparison: Comparison) -> set[str]:
    """The releases in which the line in question was run."""
    return {
        release
        for release, outcome in comparison.runner.run(each.program).items()
        if any(each.place in run.lines for run in (outcome.imported, *(run for runs in outcome.calls for run in runs)))
    }


def _sound(each: Disagreement, comparison: Comparison, ends: set[str | None], ran: set[str]) -> bool:
    """Whether the line is still run in the same releases, and nothing new goes wrong."""
    if not {run.ended for run in _runs(each.program, comparison)} <= ends or _ran(each, comparison) != ran:
        return False
    outer = Source(each.program).outer(each.place)
    mentions = sum(len(re.findall(rf"\b{outer}\b", text)) for text in each.program.files.values())
    return bool(ran) or outer in {call.function for call in each.program.calls} or mentions > 1


if __name__ == "__main__":
    sys.exit(main())
