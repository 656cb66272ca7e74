"""Ways on which something of the library was once lost: what a generator of programs has found, one kind each."""

from __future__ import annotations

from tests.flow.marked import marked

CARRIED = (
    marked(
        "property_with_a_setter",
        """
        import lib.comm as comm


        class Layer:
            def __init__(self):
                self._action = None

            @property
            def action(self):
                return self._action

            @action.setter
            def action(self, value):
                self._action = value
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises

            @action.deleter
            def action(self):
                self._action = None


        def run(x):
            layer = Layer()
            layer.action = comm.fuse
            return layer.action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "setter_that_calls",
        """
        import lib.comm as comm


        class Layer:
            @property
            def extra(self):
                return self._extra

            @extra.setter
            def extra(self, value):
                self._extra = value
                comm.fuse(1, 2, **value)  #! DW101 early 0.1.0 raises


        def run(x):
            layer = Layer()
            layer.extra = {"early": True}
        """,
    ),
    marked(
        "decorator_of_the_library",
        """
        import lib.comm as comm


        def run(x):
            @comm.legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            def once(y):
                return y

            return once

        def run_short(x):
            @comm.create  #! DW102 rank 0.1.0 to 0.10.0 raises
            def short(y):
                return y

            return short
        """,
    ),
    marked(
        "partial_in_a_function_that_is_handed_on",
        """
        import functools
        import re

        import lib.comm as comm


        def run(x):
            fuse = functools.partial(comm.fuse, x)
            return re.sub("a", lambda found: str(fuse(1, early=True)), "a")  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "operators_of_objects",
        """
        import lib.comm as comm


        class Step:
            def __init__(self, action):
                self.action = action

            def __add__(self, other):
                return self.action

            def __rmatmul__(self, other):
                return self.action

            def __neg__(self):
                return self.action


        def run(x):
            return (Step(comm.fuse) + 1)(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_right(x):
            return (1 @ Step(comm.fuse))(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_alone(x):
            return (-Step(comm.fuse))(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "assigned_within_a_comprehension",
        """
        import lib.comm as comm


        def run(x):
            [(last := each) for each in [comm.create, comm.fuse]]
            return last(x, 1, nope=True)  #! DW101 nope 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "descriptor",
        """
        import lib.comm as comm


        class Held:
            def __get__(self, instance, owner):
                return instance.action


        class Layer:
            held = Held()

            def __init__(self, action):
                self.action = action


        def run(x):
            return Layer(comm.fuse).held(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "item_that_is_missing",
        """
        import lib.comm as comm


        class Steps(dict):
            def __missing__(self, name):
                return comm.fuse


        def run(x):
            return Steps()["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "sorted_by_a_function_of_the_library",
        """
        import lib.comm as comm


        def run(x):
            return sorted([x], key=comm.create)  #! DW102 rank 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "tuples_that_are_added",
        """
        import lib.comm as comm


        def run(x):
            return ((1,) + (comm.fuse,))[1](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "returned_by_a_generator",
        """
        import lib.comm as comm


        def steps(x):
            yield x
            return comm.fuse  #? `lib.comm.fuse` is returned by a generator


        def run(x):
            def all_of_them():
                action = yield from steps(x)
                return action(x, 1)

            return list(all_of_them())
        """,
    ),
    marked(
        "function_in_a_generator",
        """
        import contextlib

        import lib.comm as comm

        ACTIONS = []


        def steps(x):
            def inner():
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises

            ACTIONS.append(inner)
            yield x


        @contextlib.contextmanager
        def managed(x):
            def inner():
                return comm.create(x, 1, group=None)  #! DW101 group 0.1.0 raises

            ACTIONS.append(inner)
            yield x


        def run(x):
            list(steps(x))
            ACTIONS[-1]()


        def run_managed(x):
            with managed(x):
                ACTIONS[-1]()
        """,
    ),
    marked(
        "the_default_of_a_parameter",
        """
        import functools

        import lib.comm as comm


        def run(x):
            fuse = comm.fuse

            def inner(action=functools.partial(fuse)):  #? a partial of `lib.comm.fuse` is the default of a parameter
                return action(x, 1)

            return inner()
        """,
    ),
    marked(
        "lambda_in_a_container_of_a_class",
        """
        import enum

        import lib.comm as comm


        class Ops:
            table = [lambda x: comm.fuse(x, 1, early=True)]  #! DW101 early 0.1.0 raises
            names = {"gather": lambda x: comm.gather(x, axis=0)}  #! DW201 gather 0.1.0 raises


        class Kind(enum.Enum):
            FAST = (lambda x: comm.fuse(x, 1, bias=0.0),)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run(x):
            return sorted([x], key=Ops.table[0])


        def run_by_name(x):
            return Ops.names["gather"](x)


        def run_of_a_member(x):
            return max([x], key=Kind.FAST.value[0])
        """,
    ),
    marked(
        "perhaps_a_function_of_the_library_in_an_attribute",
        """
        import lib.comm as comm


        class Acts:
            def __init__(self, action):
                self._action = action

            def act(self, x):
                return self._action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            action = comm.fuse if len(str(x)) > 1 else print
            return Acts(action).act(x)
        """,
    ),
    marked(
        "a_subclass_gives_what_its_base_keeps",
        """
        import lib.comm as comm


        class Holder:
            def __init__(self, held):
                self.held = held

            def give(self):
                return self.held


        class Below(Holder):
            def above(self):
                return super().give()


        def step(each):
            return Below(each).above()


        def run(x):
            action = comm.fuse if len(str(x)) > 1 else print
            return step(action)(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "perhaps_a_partial_as_a_decorator",
        """
        import functools

        import lib.comm as comm


        def run(x):
            through = print
            if len(str(x)) > 1:
                through = functools.partial(comm.fuse, x, bias=0.0)  #! DW101 bias 0.1.0 to 0.2.0 raises

            @through
            def inner():
                pass

            return inner
        """,
    ),
    marked(
        "a_list_that_functions_share",
        """
        import lib.comm as comm

        STEPS = []


        def enlist(step):
            STEPS.append(step)


        def run(x):
            enlist(comm.fuse)
            return run_all(x)


        def run_all(x):
            for step in STEPS:
                step(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "put_by_others_into_a_list",
        """
        import fills
        import steps


        def run(x):
            fills.fill()
            return steps.run_all(x)
        """,
        steps="""
        STEPS = []


        def run_all(x):
            for step in STEPS:
                step(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        fills="""
        import lib.comm as comm
        import steps


        def fill():
            steps.STEPS.append(comm.fuse)
        """,
    ),
)
