"""The command line: parse, call a use case, print what it returns, exit. click is imported here and nowhere else.

Exit status 0: nothing to report. 1: findings. 2: a usage, configuration or input error, or a crash of driftwatch
itself. 130: interrupted. Commands live in the modules beside this one, which import what they need when they run, so
that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import os
import sys

from driftwatch.cli.program import execute


def main() -> None:
    """The console script."""
    sys.exit(execute(sys.argv[1:], os.environ))


__all__ = ["main"]
