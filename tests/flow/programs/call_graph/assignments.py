"""A function gets another name."""

from __future__ import annotations

from tests.flow.marked import marked

ASSIGNMENTS = (
    marked(
        "assignments_chained",
        """
        import lib.comm as comm

        first = second = comm.fuse


        def run(x):
            first(x, 1, output=x)
            return second(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_rebound(x):
            one = other = comm.fuse
            one = comm.create
            one(1, 0)
            return other(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "assignments_tuple",
        """
        import lib.comm as comm

        make, join = comm.create, comm.fuse


        def run(x):
            make(1, 0)
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_swapped(x):
            one, other = make, join
            one, other = other, one
            other(1, 0)
            return one(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "assignments_tuple_in_a_tuple",
        """
        import lib.comm as comm


        def run(x):
            (first, (second, third)) = (comm.create, (comm.fuse, comm.create))
            first(1, 0)
            third(1, 0)
            return second(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "assignments_starred",
        """
        import lib.comm as comm


        def run(x):
            first, *rest = comm.create, comm.fuse, comm.create
            first(1, 0)
            rest[1](1, 0)
            return rest[0](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_last(x):
            *before, last = [comm.create, comm.create, comm.fuse]
            before[0](1, 0)
            return last(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_middle(x):
            a, *middle, z = comm.fuse, comm.create, comm.fuse
            (make,) = middle
            a(x, 1)
            z(x, 1)
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "assignments_last_one_wins",
        """
        import lib.comm as comm


        def run(x):
            action = comm.create
            action(1, 0)
            action = comm.fuse
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_either(x):
            action = comm.fuse if x else comm.fuse
            action(x, 1, output=x)
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "assignments_named_in_an_expression",
        """
        import lib.comm as comm


        def run(x):
            if (action := comm.fuse) is not None:
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_inside(x):
            return (make := comm.create)(1, 0), make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "assignments_to_a_global",
        """
        import lib.comm as comm

        action = comm.create


        def _choose():
            global action
            action = comm.fuse


        _choose()


        def run(x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "assignments_of_a_nonlocal",
        """
        import lib.comm as comm


        def run(x):
            action = comm.create

            def choose():
                nonlocal action
                action = comm.fuse

            choose()
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
)
