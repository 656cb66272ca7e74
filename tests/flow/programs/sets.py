"""Sets: of names that the library has, of parameters that a release takes, and their arithmetic."""

from __future__ import annotations

from tests.flow.marked import marked

SETS = (
    marked(
        "sets_of_names",
        """
        import lib.comm as comm

        NAMES = ("gather", "legacy", "nothing")
        THERE = {name for name in NAMES if hasattr(comm, name)}
        FOUND = set()
        for each in NAMES:
            if hasattr(comm, each):
                FOUND.add(each)
        if hasattr(comm, "gather"):
            OPTIONS = {"gather"}
        else:
            OPTIONS = set()


        def run_comprehension(x):
            if "gather" in THERE:
                comm.gather(x, axis=0)
            return comm.legacy(x) if "legacy" in THERE else None


        def run_added(x):
            if "gather" in FOUND:
                comm.gather(x, axis=0)
            if "nothing" in FOUND:
                comm.nothing(x)
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_truth(x):
            if OPTIONS:
                return comm.gather(x, axis=0)
            return comm.legacy(x)


        def run_frozen(x):
            if "gather" in frozenset(THERE) and len(THERE) > 0:
                return comm.gather(x, axis=0)
            return comm.legacy(x)
        """,
    ),
    marked(
        "arithmetic_of_sets",
        """
        import inspect

        import lib.comm as comm

        WANTED = {"group", "world_size"}
        TAKEN = set(inspect.signature(comm.create).parameters)
        if "options" in TAKEN:
            TAKEN |= WANTED
        MISSING = WANTED - TAKEN


        def _made(**options):
            for name in MISSING & options.keys():
                del options[name]
            return comm.create(rank=0, **options)


        def run(g):
            return _made(world_size=1, group=g)


        def run_loop(g):
            kw = {"world_size": 1, "rank": 0, "group": g}
            for name in set(kw) - TAKEN:
                kw.pop(name)
            return comm.create(**kw)


        def run_methods(g):
            if WANTED.issubset(TAKEN):
                return comm.create(1, 0, group=g)
            if WANTED <= TAKEN:
                return comm.nothing()
            return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises


        def run_union(g):
            known = {"rank"}.union(["world_size"])
            known.discard("nothing")
            kw = {name: 1 for name in known}
            comm.create(**kw)
            known.add("group")
            return comm.create(**{name: g for name in known})  #! DW101 group 0.1.0 raises


        def run_items(g):
            kw = {"world_size": 1, "rank": 0, "group": g}
            return comm.create(**{name: kw[name] for name in kw.keys() & {"rank", "world_size"}})
        """,
    ),
)
