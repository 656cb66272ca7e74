"""Names of the library in whose place a code base puts something of its own, by a function or in another file."""

from __future__ import annotations

from tests.flow.marked import marked

REPLACED = (
    marked(
        "a_function_fills_in_what_a_release_lacks",
        """
        import lib.comm as comm


        def _shim():
            if not hasattr(comm, "gather"):
                def gather(x, axis=0):
                    return x

                comm.gather = gather


        def _prepare():
            _shim()


        def run(x):
            _shim()
            return comm.gather(x, 0)  #! DW102 axis 0.10.0 raises


        def run_by_another(x):
            _prepare()
            return comm.gather(x, axis=0)
        """,
        runs=False,
    ),
    marked(
        "without_the_function_it_is_not_there",
        """
        import lib.comm as comm


        def _shim():
            if not hasattr(comm, "gather"):
                comm.gather = lambda x, axis=0: x


        def run(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
    marked(
        "another_file_fills_in_what_a_release_lacks",
        """
        import lib.comm as comm

        import compat


        def run(x):
            return comm.gather(x, axis=0)
        """,
        compat="""
        import lib.comm as comm

        if not hasattr(comm, "gather"):
            comm.gather = lambda x, axis: x
        """,
    ),
    marked(
        "a_file_that_nobody_imports_fills_in_nothing",
        """
        import lib.comm as comm


        def run(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        compat="""
        import lib.comm as comm

        if not hasattr(comm, "gather"):
            comm.gather = lambda x, axis: x
        """,
    ),
)
