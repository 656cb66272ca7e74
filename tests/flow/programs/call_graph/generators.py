"""Functions come out of iteration."""

from __future__ import annotations

from tests.flow.marked import marked

GENERATORS = (
    marked(
        "generators_yield",
        """
        import lib.comm as comm


        def _actions():
            yield comm.fuse


        def run(x):
            for action in _actions():
                action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_assigned(x):
            actions = _actions()
            for action in actions:
                action(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "generators_yield_from",
        """
        import lib.comm as comm


        def _inner():
            yield comm.create


        def _outer():
            yield from _inner()


        def run(x):
            for action in _outer():
                action(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "generators_iterable_class",
        """
        import lib.comm as comm


        class Actions:
            def __init__(self, action):
                self.action = action
                self.left = 1

            def __iter__(self):
                return self

            def __next__(self):
                if not self.left:
                    raise StopIteration
                self.left -= 1
                return self.action


        def run(x):
            for action in Actions(comm.fuse):
                action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "generators_iter_is_a_generator",
        """
        import lib.comm as comm


        class Actions:
            def __iter__(self):
                yield comm.create


        def run(x):
            return [action(1, 0, group=x) for action in Actions()]  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "generators_no_iter_but_getitem",
        """
        import lib.comm as comm


        class Actions:
            def __getitem__(self, index):
                if index:
                    raise IndexError
                return comm.fuse


        def run(x):
            for action in Actions():
                action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "generators_expression",
        """
        import lib.comm as comm


        def run(x):
            for action in (a for a in (comm.fuse, comm.fuse)):
                action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_passed(x):
            return tuple(make(1, 0, group=x) for make in [comm.create])  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "generators_parameter",
        """
        import lib.comm as comm


        def _each(actions, x):
            for action in actions:
                action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def _actions(action):
            yield action


        def run(x):
            return _each(_actions(comm.fuse), x)
        """,
    ),
    marked(
        "generators_send",
        """
        import lib.comm as comm


        def _caller(x):
            action = yield
            action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            caller = _caller(x)
            next(caller)
            caller.send(comm.fuse)
        """,
    ),
)
