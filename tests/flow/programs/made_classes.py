"""Classes that a call makes, and what the turns of a loop make."""

from __future__ import annotations

from tests.flow.marked import marked

MADE_CLASSES = (
    marked(
        "class_made_by_type",
        """
        import lib.comm as comm


        class Base:
            def go(self, x):
                return self.action(x, 1, **self.options)  #! DW101 early 0.1.0 raises


        def _make(action, **options):
            return type("Step", (Base,), {"action": staticmethod(action), "options": options})


        Join = _make(comm.fuse, early=True)
        Plain = _make(comm.fuse)


        def _again(self, x):
            return self.action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        Make = type("Make", (), dict(action=staticmethod(comm.create), again=_again))


        def run(x):
            return Join().go(x)


        def run_plain(x):
            return Plain().go(x)


        def run_make(x):
            return Make().again(x)
        """,
    ),
    marked(
        "class_made_in_a_loop",
        """
        import lib.comm as comm


        class Base:
            known = {}

            def __init_subclass__(cls):
                Base.known[cls.name] = cls

            def go(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        for _name in ("fuse", "nothing"):
            type(_name.title(), (Base,), {"name": _name, "action": staticmethod(getattr(comm, _name, None))})


        def run(x):
            return Base.known["fuse"]().go(x)
        """,
    ),
    marked(
        "class_of_fields_made_by_a_call",
        """
        import collections
        import dataclasses
        import typing

        import lib.comm as comm

        Step = collections.namedtuple("Step", "action options", defaults=({"early": True},))
        Plan = typing.NamedTuple("Plan", [("action", object), ("size", int)])
        rank = ("rank", int, dataclasses.field(default=0))
        Made = dataclasses.make_dataclass("Made", ["action", ("group", int, None), rank])


        def run(x):
            step = Step(comm.fuse)
            return step.action(x, 1, **step.options)  #! DW101 early 0.1.0 raises


        def run_taken_apart(x):
            action, size = Plan(comm.create, size=1)
            return action(size, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_made(x):
            made = Made(comm.create, group=x)
            return made.action(1, made.rank, group=made.group)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "class_made_of_a_class_of_the_library",
        """
        import lib.comm as comm

        Made = type("Made", (comm.Workspace,), {})  #? a class is made here that derives from `lib.comm.Workspace`


        def run():
            return Made(1)
        """,
    ),
    marked(
        "dicts_made_in_the_turns_of_a_loop",
        """
        import lib.comm as comm


        def run(x):
            steps = []
            for f, kw in ((comm.fuse, {"early": 1}), (comm.create, {"rank": x})):
                steps.append({"f": f, "kw": kw})
            return steps[0]["f"](1, 2, **steps[0]["kw"])  #! DW101 early 0.1.0 raises


        def run_second(x):
            steps = []
            for f, kw in ((comm.fuse, {"early": 1}), (comm.create, {"group": x})):
                steps.append({"f": f, "kw": kw})
            return steps[1]["f"](1, 2, **steps[1]["kw"])  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "objects_made_in_the_turns_of_a_loop",
        """
        import lib.comm as comm


        class Step:
            def __init__(self, f, **kw):
                self.f = f
                self.kw = kw

            def go(self, *args):
                return self.f(*args, **self.kw)  #! DW101 early 0.1.0 raises; DW101 group 0.1.0 raises


        def run(x):
            steps = []
            for f, kw in ((comm.fuse, {"early": 1}), (comm.create, {"rank": x})):
                steps.append(Step(f, **kw))
            return steps[0].go(1, 2)


        def run_comp(x):
            steps = [Step(f, **kw) for f, kw in ((comm.fuse, {"early": 1}), (comm.create, {"group": x}))]
            return steps[1].go(1, 2)


        def run_dict(x):
            steps = {n: Step(getattr(comm, n)) for n in ("fuse", "create")}
            return steps["fuse"].go(1, 2)
        """,
    ),
)
