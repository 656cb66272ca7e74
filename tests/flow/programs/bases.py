"""What instances have by their bases, by defaults, and by names that are not written."""

from __future__ import annotations

from tests.flow.marked import marked

BASES = (
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
