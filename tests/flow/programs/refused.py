"""Constant arguments that a release refuses at once; a stub takes them, so that Python is not asked."""

from __future__ import annotations

from tests.flow.marked import marked

REFUSED = (
    marked(
        "constants_that_are_refused",
        """
        import lib.comm as comm

        MODE = 2


        def run(x):
            return comm.level(x, MODE)  #! DW106 level 0.2.0.post1 raises; DW106 level 0.10.0 raises


        def run_with_another(x):
            comm.level(x, 1)
            comm.level(x)
            return comm.level(x, mode=3, eager=True)  #! DW101 eager 0.1.0 to 0.2.0.post1 raises


        def run_unknown(x, mode, eager):
            return comm.level(x, mode)


        def run_caught(x):
            try:
                return comm.level(x, -1)  #! DW106 level 0.2.0.post1 guarded@23; DW106 level 0.10.0 guarded@23
            except ValueError:
                return comm.level(x, 0)


        def run_swallowed(x):
            try:
                return comm.level(x, 2)  #! DW106 level 0.2.0.post1 silent@30; DW106 level 0.10.0 silent@30
            except Exception:
                return None
        """,
        runs=False,
    ),
    marked(
        "constants_that_a_caller_passes",
        """
        import lib.comm as comm


        def _level(x, mode):
            return comm.level(x, mode)  #! DW106 level 0.2.0.post1 raises; DW106 level 0.10.0 raises


        def run(x):
            return _level(x, 2)


        def run_one(x):
            return _level(x, 1)
        """,
        runs=False,
    ),
)
