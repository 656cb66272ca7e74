"""The command line: parse, call a use case, print what it returns, exit. click is imported here and nowhere else.

Exit status 0: nothing to report. 1: findings. 2: a usage, configuration or input error, or a crash of driftwatch
itself. 130: interrupted. Commands live in the modules beside this one, which import what they need when they run, so
that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import gc
import os
import sys

COLLECT_AFTER = 2_000_000
"""After how many new objects Python looks for cycles. A command is short, and makes millions of objects without any."""


def main() -> None:
    """The console script."""
    gc.set_threshold(COLLECT_AFTER)
    sys.unraisablehook = _unraisable
    try:
        from driftwatch.cli.program import execute

        status = execute(sys.argv[1:], os.environ)
    except KeyboardInterrupt:  # while the program is still being imported, which takes a while
        status = 130
    gc.freeze()  # What is left goes with the process: Python need not look through it first.
    sys.exit(status)


def _unraisable(told: sys.UnraisableHookArgs) -> None:
    """An interrupt that Python itself has dropped, in a callback, is no defect to be shown."""
    if told.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(told)


__all__ = ["main"]
