"""Functions without a name."""

from __future__ import annotations

from tests.flow.marked import marked

LAMBDAS = (
    marked(
        "lambdas_call",
        """
        import lib.comm as comm


        def run(x):
            go = lambda: comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
            return go()
        """,
    ),
    marked(
        "lambdas_call_their_parameter",
        """
        import lib.comm as comm


        def run(x):
            go = lambda action: action(x, 1, early=True)  #! DW101 early 0.1.0 raises
            return go(comm.fuse)


        def run_at_once(x):
            return (lambda make: make(1, 0, group=x))(comm.create)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "lambdas_chained",
        """
        import lib.comm as comm


        def _first(go):
            return go(comm.create)


        def _second(go):
            return go(comm.fuse)


        def run(x):
            _first(lambda action: action(1, 0))
            return _second(lambda action: action(x, 1, early=True))  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "lambdas_as_an_argument",
        """
        import lib.comm as comm


        def _apply(go, x):
            return go(x)


        def run(x):
            return _apply(lambda part: comm.fuse(part, 1, early=True), x)  #! DW101 early 0.1.0 raises


        def run_default(x):
            go = lambda part, make=comm.create: make(1, 0, group=part)  #! DW101 group 0.1.0 raises
            return _apply(go, x)
        """,
    ),
    marked(
        "lambdas_returned",
        """
        import lib.comm as comm


        def _maker():
            return lambda: comm.fuse


        def run(x):
            return _maker()()(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_curried(x):
            go = lambda action: lambda part: action(1, 0, group=part)  #! DW101 group 0.1.0 raises
            return go(comm.create)(x)
        """,
    ),
    marked(
        "lambdas_in_containers",
        """
        import lib.comm as comm

        GO = {"join": lambda action, x: action(x, 1, early=True)}  #! DW101 early 0.1.0 raises
        MAKE = [lambda x: comm.create(1, 0), lambda x: comm.create(1, 0, group=x)]  #! DW101 group 0.1.0 raises


        def run(x):
            return GO["join"](comm.fuse, x)


        def run_list(x):
            MAKE[0](x)
            return MAKE[1](x)
        """,
    ),
    marked(
        "lambdas_bind_late",
        """
        import lib.comm as comm


        def run(x):
            action = comm.create
            go = lambda: action(x, 1, early=True)  #! DW101 early 0.1.0 raises
            action = comm.fuse
            return go()
        """,
    ),
    marked(
        "lambdas_of_a_loop_variable",
        """
        import lib.comm as comm


        def run_loop(x):
            made = [lambda: do(x, 1, bias=1.0) for do in (comm.create, comm.fuse)]  #! DW101 bias 0.1.0 to 0.2.0 raises
            return made[0]()
        """,
    ),
)
