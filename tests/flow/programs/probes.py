"""Guards that try a call out before it is made."""

from __future__ import annotations

from tests.flow.marked import marked

PROBES = (
    marked(
        "a_signature_that_does_not_bind",
        """
        import inspect

        import lib.comm as comm


        def run(x):
            try:
                inspect.signature(comm.fuse).bind(x, 1, early=True)
            except TypeError:
                return comm.fuse(x, 1)
            return comm.fuse(x, 1, early=True)


        def run_with_what_it_takes(x):
            options = {"early": True}
            try:
                inspect.signature(comm.fuse).bind_partial(**options)
            except TypeError:
                options = {}
            return comm.fuse(x, 1, **options)
        """,
        runs=False,  # the harness takes what bind raises for what a call raised
    ),
    marked(
        "a_signature_that_binds_something_else",
        """
        import inspect

        import lib.comm as comm


        def run(x):
            try:
                inspect.signature(comm.fuse).bind(x, 1)
            except TypeError:
                return comm.fuse(x, 1)
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
)
