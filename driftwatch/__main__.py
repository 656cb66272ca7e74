"""``python -m driftwatch``: the command line.

Before any of this is read, ``-m`` imports from the working folder; ``driftwatch`` itself never does.
"""

from __future__ import annotations

from driftwatch.cli import main

if __name__ == "__main__":
    main()
