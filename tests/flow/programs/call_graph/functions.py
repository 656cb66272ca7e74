"""Plain functions, and functions in functions."""

from __future__ import annotations

from tests.flow.marked import marked

FUNCTIONS = (
    marked(
        "functions_call",
        """
        import lib.comm as comm


        def _join(x):
            comm.create(1, 0)
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _join(x)
        """,
    ),
    marked(
        "functions_assigned_with_a_constant",
        """
        import lib.comm as comm


        def _either(joins, x):
            if joins:
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
            return comm.nothing(x)


        def run(x):
            call = _either
            return call(True, x)
        """,
    ),
    marked(
        "functions_imported",
        """
        from package.steps import join as step
        import package.steps


        def run(x):
            return step(x)


        def run_dotted(x):
            return package.steps.make(x)
        """,
        package__init="",
        package__steps="""
        import lib.comm as comm


        def join(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def make(x):
            return comm.create(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "functions_in_functions",
        """
        import lib.comm as comm


        def run(x):
            def inner(action):
                def innermost():
                    return action(x, 1, early=True)  #! DW101 early 0.1.0 raises

                return innermost()

            return inner(comm.fuse)
        """,
    ),
    marked(
        "functions_recursive",
        """
        import lib.comm as comm


        def _down(action, count):
            if count == 0:
                return action(count, 1, early=True)  #! DW101 early 0.1.0 raises
            return _down(action, count - 1)  #? `lib.comm.fuse` is passed to a function that cannot be followed


        def run():
            return _down(comm.fuse, 3)


        def _even(action, count):
            if count == 0:
                return action(1, 0, group=count)  #! DW101 group 0.1.0 raises
            return _odd(action, count - 1)  #? `lib.comm.create` is passed to a function that cannot be followed


        def _odd(action, count):
            return _even(action, count - 1)


        def run_two():
            return _even(comm.create, 4)
        """,
    ),
    marked(
        "functions_defined_twice",
        """
        import lib.comm as comm


        def _go(x):
            return comm.create(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_before(x, go=_go):
            return go(x)


        def _go(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _go(x)
        """,
    ),
    marked(
        "functions_attributes",
        """
        import lib.comm as comm


        def _holder():
            return _holder.action


        _holder.action = comm.fuse


        def run(x):
            return _holder.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_inside(x):
            return _holder()(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "functions_async",
        """
        import asyncio
        import lib.comm as comm


        async def _action():
            return comm.fuse


        async def _go(x):
            return (await _action())(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return asyncio.run(_go(x))
        """,
    ),
)
