"""Instances of the code base's classes, told apart by where they are made."""

from __future__ import annotations

from tests.flow.marked import marked

INSTANCES = (
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
        "attributes_by_name",
        """
        import lib.comm as comm

        NAMES = ("gather", "legacy")


        class Library:
            def __init__(self):
                for name in NAMES:
                    setattr(self, name, getattr(comm, name, None))

            def has(self, name):
                return getattr(self, name) is not None


        class Options:
            def __init__(self, rank):
                self.world_size = 1
                self.rank = rank


        LIBRARY = Library()


        def run(x):
            if LIBRARY.gather is None:
                return LIBRARY.legacy(x)
            return LIBRARY.gather(x, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises


        def run_has(x):
            return LIBRARY.gather(x, axis=0) if LIBRARY.has("gather") else LIBRARY.legacy(x)


        def run_vars(g):
            options = Options(0)
            comm.create(**vars(options))
            options.group = g
            comm.create(**options.__dict__)  #! DW101 group 0.1.0 raises
            if hasattr(options, "nothing"):
                comm.nothing()
            return getattr(options, "fn", comm.create)(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises
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
    marked(
        "order_of_bases",
        """
        import lib.comm as comm


        class _A:
            def options(self):
                return {"rank": 0}


        class _B(_A):
            pass


        class _C:
            def options(self):
                return {"nothing": 1}


        class _D(_B, _C):
            def go(self):
                return comm.create(1, **self.options())


        class _E(_A):
            def options(self):
                return {"group": 1, **super().options()}


        class _F(_B, _E):
            def go(self):
                return comm.create(1, **self.options())  #! DW101 group 0.1.0 raises


        def run():
            return _D().go()


        def run_diamond():
            return _F().go()
        """,
    ),
    marked(
        "defaults_of_parameters",
        """
        import lib.comm as comm


        def run(fn=comm.create):
            return fn(1, 0, nope=1)  #! DW101 nope 0.1.0 to 0.2.0.post1 raises


        def run_module(library=comm):
            return library.legacy(1)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
        runs=False,
    ),
    marked(
        "variables_as_arguments",
        """
        import lib.comm as comm


        def _create(world_size=1, rank=0, group=None):
            return comm.create(**locals())  #! DW101 group 0.1.0 raises


        def _few(world_size=1, rank=0):
            return comm.create(**locals())


        def _given(world_size=1, rank=0, group=None):
            kw = {name: value for name, value in locals().items() if value is not None}
            return comm.create(**kw)


        def run():
            _few()
            _given()
            return _create()
        """,
    ),
    marked(
        "a_namespace_of_flags",
        """
        from types import SimpleNamespace

        import lib.comm as comm

        LIBRARY = SimpleNamespace(gathers=hasattr(comm, "gather"), create=comm.create)


        def run(x):
            if LIBRARY.gathers:
                comm.gather(x, axis=0)
            mine = SimpleNamespace(fn=comm.create)
            mine.fn(1, 0)
            return LIBRARY.create(1, 0, 2)  #! DW103 create 0.1.0, 0.10.0 raises
        """,
    ),
)
