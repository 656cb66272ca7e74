"""Calls that are made again and again: what one of them leaves behind, and what is another function each time."""

from __future__ import annotations

from tests.flow.marked import marked

REPEATED_CALLS = (
    marked(
        "a_helper_calls_what_it_is_given_until_that_leaves_nothing_behind",
        """
        import lib.comm as comm


        def time_it(call):
            for turn in range(4):
                number = turn % 3
                call()
            return number


        def run(x):
            options = {}

            def fuse():
                comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises
                options.update(early=2)

            return time_it(fuse)
        """,
    ),
    marked(
        "what_a_helper_calls_is_another_function_in_each_turn",
        """
        import lib.comm as comm


        def once(call):
            for _ in range(1):
                call()


        def run(x):
            for name in ("fuse", "gather"):
                def call():
                    getattr(comm, name)(x, 0)  #! DW102 axis 0.10.0 raises; DW201 gather 0.1.0 raises

                once(call)
        """,
    ),
    marked(
        "what_a_helper_calls_looks_at_the_turn",
        """
        import lib.comm as comm


        def run(x):
            name = "fuse"

            def call():
                getattr(comm, name)(x, 0)  #! DW102 axis 0.10.0 raises; DW201 gather 0.1.0 raises

            for turn in range(6):
                call()
                if turn == 4:
                    name = "gather"
        """,
    ),
    marked(
        "what_a_helper_calls_looks_at_the_turn_by_its_name",
        """
        import lib.comm as comm


        def run(x):
            def call(seen):
                getattr(comm, seen["name"])(x, 0)  #! DW102 axis 0.10.0 raises; DW201 gather 0.1.0 raises

            for name in ("fuse", "fuse", "fuse", "gather"):
                call(locals())
        """,
    ),
)
