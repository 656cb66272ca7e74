"""What a name stands for once its decorator has run."""

from __future__ import annotations

from tests.flow.marked import marked

DECORATORS = (
    marked(
        "decorators_call",
        """
        import lib.comm as comm


        def around(function):
            def inner(*given, **named):
                comm.create(1, 0)
                return function(*given, **named)

            return inner


        @around
        def _join(x, action):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _join(x, comm.fuse)
        """,
    ),
    marked(
        "decorators_returns_another_function",
        """
        import lib.comm as comm


        def replaced(function):
            return comm.fuse


        @replaced
        def _join(x):
            return x


        def run(x):
            return _join(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "decorators_with_parameters",
        """
        import functools
        import lib.comm as comm


        def calling(action):
            def decorate(function):
                @functools.wraps(function)
                def inner(x):
                    return action(function(x), 1, early=True)  #! DW101 early 0.1.0 raises

                return inner

            return decorate


        @calling(comm.fuse)
        def _join(x):
            return x


        def run(x):
            return _join(x)
        """,
    ),
    marked(
        "decorators_stacked",
        """
        import lib.comm as comm


        def first(function):
            def inner(action, x):
                return function(action, x)

            return inner


        def second(function):
            def inner(action, x):
                action(1, 0)
                return function(comm.fuse, x)  #? `lib.comm.fuse` is passed to a function that cannot be followed

            return inner


        @second
        @first
        def _go(action, x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _go(comm.create, x)
        """,
    ),
    marked(
        "decorators_assigned",
        """
        import lib.comm as comm


        def passing(action):
            def decorate(function):
                return lambda x: function(action, x)

            return decorate


        joins = passing(comm.fuse)


        @joins
        def _go(action, x):
            return action(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run(x):
            return _go(x)
        """,
    ),
    marked(
        "decorators_a_class_that_registers",
        """
        import lib.comm as comm


        class Registry:
            def __init__(self):
                self.actions = {}

            def register(self, name):
                def decorate(function):
                    self.actions[name] = function
                    return function

                return decorate


        REGISTRY = Registry()


        @REGISTRY.register("join")
        def _join(action, x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return REGISTRY.actions["join"](comm.fuse, x)
        """,
    ),
    marked(
        "decorators_on_a_class",
        """
        import lib.comm as comm


        def with_action(c):
            c.do = staticmethod(comm.fuse)  #? `lib.comm.fuse` is kept in an attribute of an object that is not known
            return c


        @with_action
        class Step:
            def go(self, x):
                return self.do(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return Step().go(x)
        """,
    ),
)
