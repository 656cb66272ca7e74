"""Functions and arguments that travel by keyword."""

from __future__ import annotations

from tests.flow.marked import marked

KWARGS = (
    marked(
        "kwargs_call",
        """
        import lib.comm as comm


        def _apply(x, action=None):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _apply(action=comm.fuse, x=x)
        """,
    ),
    marked(
        "kwargs_assigned",
        """
        import lib.comm as comm


        def _apply(x, action=comm.create):
            chosen = action
            return chosen(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run(x):
            given = comm.fuse
            return _apply(x, action=given)
        """,
    ),
    marked(
        "kwargs_chained",
        """
        import lib.comm as comm


        def _inner(*, make, join, x):
            make(1, 0)
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def _outer(**named):
            return _inner(x=1, **named)


        def run():
            return _outer(make=comm.create, join=comm.fuse)
        """,
    ),
    marked(
        "kwargs_taken_out",
        """
        import lib.comm as comm


        def _apply(x, **named):
            action = named.pop("action")
            return action(x, 1, **named)


        def run(x):
            _apply(x, action=comm.fuse, output=x)
            return _apply(x, action=comm.fuse, early=True)  #! DW101 early 0.1.0 raises


        def _by_name(**named):
            return named["action"](1, 0, group=1)  #! DW101 group 0.1.0 raises


        def run_by_name():
            return _by_name(action=comm.create)
        """,
    ),
    marked(
        "kwargs_defaults_of_the_wrapper",
        """
        import lib.comm as comm


        def _join(x, **named):
            named.setdefault("early", True)
            return comm.fuse(x, 1, **named)  #! DW101 early 0.1.0 raises


        def _make(**named):
            named["rank"] = 0
            return comm.create(1, **named)


        def run(x):
            return _join(x)


        def run_make(x):
            _make(rank=1)
            return _make(group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "kwargs_of_a_method",
        """
        import lib.comm as comm


        class Step:
            def __init__(self, action):
                self.action = action

            def go(self, *given, **named):
                return self._go(given, named)

            def _go(self, given, named):
                return self.action(*given, **named)  #! DW102 workspace 0.1.0 to 0.10.0 raises


        def run(x):
            Step(comm.create).go(1, rank=0)
            return Step(comm.fuse).go(x)
        """,
    ),
    marked(
        "kwargs_dict_function",
        """
        import lib.comm as comm


        def run(x):
            named = dict(group=x)
            return comm.create(1, 0, **named)  #! DW101 group 0.1.0 raises


        def run_zip(x):
            named = dict(zip(("early",), (True,)))
            return comm.fuse(x, 1, **named)  #! DW101 early 0.1.0 raises
        """,
    ),
)
