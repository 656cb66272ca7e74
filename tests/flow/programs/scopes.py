"""Variables of other scopes: ``global`` and ``nonlocal``, and closures over what a comprehension binds."""

from __future__ import annotations

from tests.flow.marked import marked

SCOPES = (
    marked(
        "nonlocal_is_assigned_by_the_function_that_is_called",
        """
        import lib.comm as comm


        def run(x):
            action = None

            def choose():
                nonlocal action
                for each in (comm.create, comm.fuse):
                    action = each

            choose()
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_deep(x):
            make = None

            def outer():
                nonlocal make

                def inner():
                    nonlocal make
                    make = comm.create

                inner()

            outer()
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_counted(x):
            calls = 0

            def go(n):
                nonlocal calls
                calls += 1
                return comm.fuse(x, n, early=calls)  #! DW101 early 0.1.0 raises

            go(1)
            return go(2)
        """,
    ),
    marked(
        "nonlocal_is_assigned_on_one_way",
        """
        import lib.comm as comm


        def run(x, flag):
            action = comm.fuse

            def choose():
                nonlocal action
                if flag:
                    action = comm.create

            choose()
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 to 0.2.0.post1 raises
        """,
    ),
    marked(
        "global_is_assigned_on_one_way",
        """
        import lib.comm as comm

        action = comm.fuse


        def run(x, flag):
            global action
            if flag:
                action = comm.fuse
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        made = comm.create


        def _choose():
            global made
            made = comm.fuse


        _choose()


        def run_made(x):
            return made(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "closure_over_the_variable_of_a_comprehension",
        """
        import lib.comm as comm


        def run(x):
            made = [lambda: do(x, 1, bias=1.0) for do in (comm.create, comm.fuse)]  #! DW101 bias 0.1.0 to 0.2.0 raises
            return made[0]()
        """,
    ),
)
