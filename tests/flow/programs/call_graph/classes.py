"""Methods, attributes and instances."""

from __future__ import annotations

from tests.flow.marked import marked

CLASSES = (
    marked(
        "classes_method_call",
        """
        import lib.comm as comm


        class Step:
            def _go(self, action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises

            def go(self, x):
                return self._go(comm.fuse, x)


        def run(x):
            return Step().go(x)


        def run_assigned(x):
            step = Step()
            go = step.go
            return go(x)
        """,
    ),
    marked(
        "classes_function_on_self",
        """
        import lib.comm as comm


        class Step:
            def __init__(self, action):
                self.action = action

            def go(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return Step(comm.fuse).go(x)
        """,
    ),
    marked(
        "classes_attribute_of_the_class",
        """
        import lib.comm as comm


        class Base:
            make = comm.create
            join = staticmethod(comm.fuse)


        class Step(Base):
            def go(self, x):
                return self.join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            Step.make(1, 0)
            return Step().go(x)


        def run_on_the_class(x):
            return Step.make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "classes_static_and_class_methods",
        """
        import lib.comm as comm


        class Step:
            action = comm.create

            @staticmethod
            def apply(action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises

            @classmethod
            def make(cls, x):
                return cls.action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return Step.apply(comm.fuse, x)


        def run_class(x):
            return Step().make(x)
        """,
    ),
    marked(
        "classes_base_calls_the_child",
        """
        import lib.comm as comm


        class Base:
            def go(self, x):
                return self.action()(x, 1, early=True)  #! DW101 early 0.1.0 raises

            def action(self):
                raise NotImplementedError


        class Join(Base):
            def action(self):
                return comm.fuse


        def run(x):
            return Join().go(x)
        """,
    ),
    marked(
        "classes_nested",
        """
        import lib.comm as comm


        class Outer:
            class Inner:
                def __init__(self, action):
                    self.action = action

                def go(self, x):
                    return self.action(1, 0, group=x)  #! DW101 group 0.1.0 raises

            def make(self):
                return self.Inner(comm.create)


        def run(x):
            return Outer().make().go(x)
        """,
    ),
    marked(
        "classes_imported_attribute",
        """
        import steps
        from steps import Step


        def run(x):
            return Step.held.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_nested(x):
            return steps.Step.held.make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
        steps="""
        import lib.comm as comm


        class Held:
            action = comm.fuse

            @staticmethod
            def make(*given, **named):
                return comm.create(*given, **named)


        class Step:
            held = Held
        """,
    ),
    marked(
        "classes_callable_instance",
        """
        import lib.comm as comm


        class Step:
            def __init__(self, action):
                self.action = action

            def __call__(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def apply(step, x):
            return step(x)


        def run(x):
            return apply(Step(comm.fuse), x)
        """,
    ),
    marked(
        "classes_subscripted_instance",
        """
        import lib.comm as comm


        class Step:
            def __init__(self, action):
                self.action = action

            def __getitem__(self, key):
                return self.action


        def run(x):
            return Step(comm.create)["any"](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "classes_property",
        """
        import lib.comm as comm


        class Step:
            @property
            def action(self):
                return comm.fuse


        def run(x):
            step = Step()
            return step.action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "classes_instances_in_a_tuple",
        """
        import lib.comm as comm


        class Make:
            def go(self, x):
                return comm.create(1, 0)


        class Join:
            action = staticmethod(comm.fuse)

            def go(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            first, second = Make(), Join()
            first.go(x)
            return second.go(x)
        """,
    ),
)
