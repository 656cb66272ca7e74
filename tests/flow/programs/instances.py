"""Instances of the code base's classes, told apart by where they are made."""

from __future__ import annotations

from tests.flow.marked import marked

INSTANCES = (
    marked(
        "an_attribute_that_is_an_instance_of_another_class_is_none_of_the_librarys",
        """
        from lib.comm import create


        class Own:
            def only_own(self):
                return 1


        class Holder:
            def __init__(self, ws):
                self.ws = ws


        def ask(holder):
            if isinstance(holder.ws, Own) and holder.ws.only_own():
                return holder.ws.only_own()
            return holder.ws.close(now=True)  #! DW203 close 0.1.0 to 0.2.0 raises; DW101 now 0.2.0.post1 raises


        def run(g):
            return ask(Holder(create(1, 0) if g else g))
        """,
    ),
    marked(
        "two_instances_of_one_class",
        """
        import lib.comm as comm


        class Wrap:
            def __init__(self, fn, **defaults):
                self.fn = fn
                self.defaults = defaults

            def __call__(self, **kw):
                return self.fn(**kw)

            def run(self, **kw):
                return self.fn(**{**self.defaults, **kw})


        CREATE = Wrap(comm.create, rank=0)
        FUSE = Wrap(comm.fuse, x=1)


        def run():
            CREATE(world_size=1, rank=0)
            FUSE(x=1, workspace=2)
            CREATE.run(world_size=1)
            return FUSE.run(workspace=2)


        def run_read():
            comm.create(1, 0)
            CREATE.fn(1, 0)
            FUSE.fn(1, 2)
            return CREATE.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_made_here(g):
            first, second = Wrap(comm.create), Wrap(comm.fuse)
            first.fn(1, 0)
            return second.fn(1, 2, nope=g)  #! DW101 nope 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "what_a_constructor_is_given_and_keeps",
        """
        import lib.comm as comm


        class Runner:
            def __init__(self, fn):
                self.fn = fn

            def run(self):
                return self.fn(1, 0, nope=1)  #! DW101 nope 0.1.0 to 0.2.0.post1 raises


        class Holder:
            def __init__(self, library):
                self.library = library

            def run(self, x):
                return self.library.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        class Workspaces:
            def __init__(self, ws):
                self.ws = ws


        def run():
            return Runner(comm.create).run()


        def run_module(x):
            return Holder(comm).run(x)


        def run_workspace():
            held = Workspaces(comm.create(1, 0))
            return held.ws.close()  #! DW203 close 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "objects_of_flags",
        """
        import lib.comm as comm


        class Flags:
            def __init__(self, gathers=False):
                self.gathers = gathers


        class Probe:
            def __init__(self, name):
                self.there = hasattr(comm, name)

            def __bool__(self):
                return self.there


        def _detect():
            return Flags(gathers=True) if hasattr(comm, "gather") else Flags()


        FLAGS = _detect()
        LATER = Flags()
        NEVER = Flags()
        if hasattr(comm, "gather"):
            LATER.gathers = True
        GATHER, LEGACY = Probe("gather"), Probe("legacy")


        def run_flags(x):
            if FLAGS.gathers:
                comm.gather(x, axis=0)
            if LATER.gathers:
                comm.gather(x, axis=0)
            if NEVER.gathers:
                comm.nothing(x)
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_probes(x):
            if GATHER.there:
                comm.gather(x, axis=0)
            if LEGACY:
                return comm.legacy(x)
            if not GATHER:
                return None
            return comm.gather(x, axis=0)


        def run_local(x):
            mine = Flags()
            mine.gathers = hasattr(comm, "gather")
            other = mine
            if other.gathers:
                return comm.gather(x, axis=0)
            other.gathers = True
            if not mine.gathers:
                comm.nothing(x)
            return comm.legacy(x)


        def run_in_a_loop(x):
            probes = [Probe(name) for name in ("gather", "legacy")]
            if probes[0].there:
                return comm.gather(x, axis=0)
            return comm.legacy(x) if probes[1].there else None
        """,
    ),
    marked(
        "flags_in_another_file",
        """
        from features import FEATURES
        import lib.comm as comm


        def run(x, g):
            if not FEATURES.gathers:
                return comm.legacy(x)
            kw = {}
            if "group" in FEATURES.options:
                kw["group"] = g
            comm.create(1, 0, **kw)
            return comm.gather(x, axis=0)
        """,
        features="""
        import inspect
        from dataclasses import dataclass, field


        @dataclass(frozen=True)
        class Features:
            gathers: bool = False
            options: frozenset = field(default_factory=frozenset)

            @classmethod
            def detect(cls):
                from lib import comm

                if getattr(comm, "gather", None) is None:
                    return cls()
                parameters = inspect.signature(comm.create).parameters
                options = frozenset(parameters) | ({"group"} if "options" in parameters else set())
                return cls(gathers=True, options=options)


        FEATURES = Features.detect()
        """,
    ),
    marked(
        "records_of_functions",
        """
        from dataclasses import dataclass, field, replace
        from typing import Any, NamedTuple

        import lib.comm as comm


        @dataclass
        class Operation:
            fn: Any
            kw: dict = field(default_factory=dict)
            gathers: bool = False

            def go(self):
                return self.fn(**self.kw)


        class Pair(NamedTuple):
            fn: Any
            other: Any = None


        @dataclass
        class Probed:
            name: str

            def __post_init__(self):
                self.there = hasattr(comm, self.name)


        def run_operations():
            first, second = Operation(comm.create), Operation(comm.fuse)
            first.kw["world_size"], first.kw["rank"] = 1, 0
            second.kw.update(x=1, workspace=2)
            first.go()
            second.go()
            return first.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_replaced(x):
            old = Operation(comm.create)
            new = replace(old, fn=comm.fuse)
            old.fn(1, 0)
            if replace(new, gathers=True).gathers:
                return new.fn(1, 2, nope=1)  #! DW101 nope 0.1.0 to 0.10.0 raises
            return comm.nothing(x)


        def run_pairs(g):
            pair = Pair(comm.create, comm.fuse)
            pair[0](1, 0)
            fn, other = pair
            other(1, 2)
            comm.create(**Pair(1)._asdict())  #! DW101 fn 0.1.0 to 0.2.0.post1 raises; DW101 other 0.1.0 to 0.2.0.post1 raises; DW102 world_size 0.1.0 to 0.10.0 raises; DW102 rank 0.1.0 to 0.10.0 raises
            return fn(1, 0, g)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_probed(x):
            if Probed("gather").there:
                return comm.gather(x, axis=0)
            return comm.legacy(x)
        """,  # noqa: E501
        runs=False,
    ),
    marked(
        "a_builder_that_is_followed",
        """
        import lib.comm as comm


        class Builder:
            def __init__(self):
                self.kw = {}

            def add(self, key, value):
                self.kw[key] = value
                return self


        def run(g):
            comm.create(**Builder().add("world_size", 1).add("rank", 0).kw)
            return comm.create(**Builder().add("world_size", 1).add("rank", 0).add("group", g).kw)  #! DW101 group 0.1.0 raises
        """,  # noqa: E501
    ),
    marked(
        "what_a_function_makes_is_new_each_time",
        """
        import lib.comm as comm


        class Options:
            def __init__(self):
                self.kw = {"world_size": 1}


        def make():
            return {"world_size": 1}


        def _make_options():
            return Options()


        def run(g):
            first, second = make(), make()
            first["group"] = g
            second["rank"] = 0
            return comm.create(**second)


        def run_options(g):
            first, second = _make_options(), _make_options()
            first.kw["group"] = g
            second.kw["rank"] = 0
            return comm.create(**second.kw)


        def run_in_a_loop(g):
            made = []
            for name in ("group", "rank"):
                kw = {"world_size": 1}
                kw[name] = 0
                made.append(kw)
            return comm.create(**made[1])
        """,
    ),
    marked(
        "objects_that_methods_and_functions_change",
        """
        import lib.comm as comm


        class Slot:
            def __init__(self):
                self.fn = None

            def put(self, fn):
                self.fn = fn


        class Base:
            def __init__(self, fn):
                self.fn = fn


        class Derived(Base):
            def __init__(self, fn, other):
                super().__init__(fn)
                self.other = other


        class Named(Base):
            def __init__(self, fn):
                Base.__init__(self, fn)


        def _fill(slot):
            slot.fn = comm.create


        def run_method():
            slot = Slot()
            slot.put(comm.create)
            return slot.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_function():
            slot = Slot()
            _fill(slot)
            return slot.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_derived():
            made = Derived(comm.create, comm.fuse)
            made.other(1, 2)
            return made.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_named():
            first, second = Named(comm.create), Named(comm.fuse)
            second.fn(1, 2)
            return first.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_nested():
            class Box:
                pass

            box = Box()
            box.slot = Slot()
            box.slot.fn = comm.create
            return box.slot.fn(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises
        """,
    ),
    marked(
        "a_flag_that_a_method_may_have_set",
        """
        import lib.comm as comm


        class Switch:
            def __init__(self):
                self.on = False

            def turn(self):
                self.on = True


        SWITCH = Switch()


        def run_turn():
            SWITCH.turn()


        def run(x):
            if SWITCH.on:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            return x
        """,
        runs=False,
    ),
)
