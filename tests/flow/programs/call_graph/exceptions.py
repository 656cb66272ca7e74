"""Exceptions carry functions, and their classes are called by raising."""

from __future__ import annotations

from tests.flow.marked import marked

EXCEPTIONS = (
    marked(
        "exceptions_raise_calls_the_constructor",
        """
        import lib.comm as comm


        class Stop(Exception):
            def __init__(self, action, x):
                self.made = action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            raise Stop(comm.fuse, x)
        """,
    ),
    marked(
        "exceptions_raise_of_a_class",
        """
        import lib.comm as comm


        class Stop(Exception):
            def __init__(self):
                self.made = comm.create(1, 0, group=1)  #! DW101 group 0.1.0 raises


        def run():
            try:
                raise Stop
            except Stop:
                return None
        """,
    ),
    marked(
        "exceptions_carry_a_function",
        """
        import lib.comm as comm


        class Stop(Exception):
            def __init__(self, action):
                self.action = action


        def run(x):
            try:
                raise Stop(comm.fuse)
            except Stop as stop:
                return stop.action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "exceptions_args",
        """
        import lib.comm as comm


        def run(x):
            try:
                raise ValueError(comm.fuse)
            except ValueError as error:
                return error.args[0](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "exceptions_handler_else_and_finally",
        """
        import lib.comm as comm


        def run(x):
            action = comm.create
            try:
                int("x")
            except ValueError:
                action = comm.fuse
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_else(x):
            try:
                pass
            except ValueError:
                comm.nothing(x)
            else:
                return comm.create(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_finally(x):
            try:
                return x
            finally:
                comm.fuse(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "exceptions_through_frames",
        """
        import lib.comm as comm


        class Stop(Exception):
            def __init__(self, action):
                super().__init__()
                self.action = action


        def _inner():
            raise Stop(comm.create)


        def _middle():
            _inner()


        def run(x):
            try:
                _middle()
            except Stop as stop:
                return stop.action(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
)
