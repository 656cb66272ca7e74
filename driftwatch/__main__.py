"""``python -m driftwatch``: the command line."""

from __future__ import annotations

from driftwatch.cli import main

if __name__ == "__main__":
    main()
