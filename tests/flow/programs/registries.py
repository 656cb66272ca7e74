"""Classes and functions that others put into use: registries, hooks of base classes, decorators that give another."""

from __future__ import annotations

from tests.flow.marked import marked

REGISTRIES = (
    marked(
        "registry_of_classes_by_a_decorator",
        """
        import lib.comm as comm

        _STEPS = {}


        def _register(name):
            def decorate(cls):
                _STEPS[name] = cls
                return cls

            return decorate


        @_register("join")
        class _Join:
            def go(self, action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        @_register("make")
        class _Make:
            def go(self, action, x):
                return action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return _STEPS["join"]().go(comm.fuse, x)


        def run_make(x):
            return _STEPS["make"]().go(comm.create, x)
        """,
    ),
    marked(
        "registry_of_subclasses_by_their_hook",
        """
        import lib.comm as comm


        class Step:
            known = {}

            def __init_subclass__(cls, name=None, **options):
                super().__init_subclass__(**options)
                cls.known[name or cls.__name__] = cls


        class Join(Step, name="join"):
            def go(self, action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        class Make(Step):
            def go(self, action, x):
                return action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return Step.known["join"]().go(comm.fuse, x)


        def run_by_name(x):
            return Step.known["Make"]().go(comm.create, x)
        """,
    ),
    marked(
        "hook_of_a_base_sets_what_its_subclasses_are_given",
        """
        import lib.comm as comm


        class Step:
            def __init_subclass__(cls, action=None, **options):
                cls.action = staticmethod(action)
                cls.options = options

            def go(self, x):
                return self.action(x, 1, **self.options)  #! DW101 early 0.1.0 raises


        class Join(Step, action=comm.fuse, early=True):
            pass


        class Plain(Step, action=comm.fuse):
            pass


        class Make(Step, action=comm.create):
            def go(self, x):
                return self.action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return Join().go(x)


        def run_plain(x):
            return Plain().go(x)


        def run_make(x):
            return Make().go(x)
        """,
    ),
    marked(
        "decorator_gives_a_function_of_the_library",
        """
        import functools

        import lib.comm as comm


        def _replaced(function):
            return comm.fuse


        def _given(action):
            def decorate(function):
                return functools.partial(action, early=function(1))  #! DW101 early 0.1.0 raises

            return decorate


        @_replaced
        def join(x):
            return comm.create(1, 0, group=x)


        @_given(comm.fuse)
        def early(x):
            return True


        def run(x):
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_partial(x):
            return early(x, 1)
        """,
    ),
    marked(
        "decorator_of_a_class_adds_to_it",
        """
        import lib.comm as comm


        def _with_action(cls):
            cls.action = staticmethod(comm.fuse)
            return cls


        def _with_method(cls):
            def go(self, x, **options):
                return self.action(x, 1, **options)

            cls.go = go
            return cls


        @_with_action
        @_with_method
        class Step:
            pass


        def run(x):
            return Step().go(x, early=True)  #! DW101 early 0.1.0 raises


        def run_plain(x):
            return Step().go(x)
        """,
    ),
    marked(
        "decorator_of_a_class_gives_another",
        """
        import lib.comm as comm


        def _bound(cls):
            class Bound(cls):
                def go(self, x):
                    return super().go(comm.fuse, x)

            return Bound


        @_bound
        class Step:
            def go(self, action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return Step().go(x)
        """,
    ),
    marked(
        "class_that_another_one_holds",
        """
        from steps import Step


        def run(x):
            return Step.held.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_made(x):
            return Step.made(1, 0).go(x)
        """,
        steps="""
        import lib.comm as comm


        class Held:
            action = comm.fuse

            def __init__(self, *given):
                self.given = given

            def go(self, x):
                return comm.create(*self.given, group=x)  #! DW101 group 0.1.0 raises


        class Step:
            held = made = Held
        """,
    ),
    marked(
        "function_put_on_a_class",
        """
        import lib.comm as comm


        def _go(self, x):
            return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def _plain(x):
            return comm.create(1, 0, group=x)  #! DW101 group 0.1.0 raises


        class Step:
            action = staticmethod(comm.fuse)
            go = _go
            plain = staticmethod(_plain)


        Step.again = _go


        def run(x):
            return Step().go(x)


        def run_again(x):
            return Step().again(x)


        def run_plain(x):
            return Step().plain(x)
        """,
    ),
)
