"""Helpers that ask the library by a name they are given: who calls one with a constant is told exactly."""

from __future__ import annotations

from tests.flow.marked import marked

_UTIL = """
    from importlib import import_module
    from importlib.metadata import version

    from packaging.version import Version

    import lib.comm as comm

    LIB = Version(version("lib-dist"))


    def has(name: str) -> bool:
        return hasattr(comm, name)


    def has_all(*names):
        return all(hasattr(comm, n) for n in names)


    def has_every(names):
        for name in names:
            if not hasattr(comm, name):
                return False
        return True


    def member(cls_name, attr):
        cls = getattr(comm, cls_name, None)
        return cls is not None and hasattr(cls, attr)


    def at_least(text):
        return LIB >= Version(text)


    def has_kind(kind):
        return hasattr(comm, f"{kind}ther")


    def has_module(name):
        try:
            import_module(f"lib.comm.{name}")  #! DW202 extra 0.1.0 to 0.2.0 guarded@42
        except ImportError:
            return False
        return True


    def require(name):
        if not hasattr(comm, name):
            raise RuntimeError(f"no {name}")


    def find(name):
        return getattr(comm, name, None)


    class Probe:
        @staticmethod
        def has(name):
            return hasattr(comm, name)

        @classmethod
        def has_too(cls, name):
            return cls.has(name)


    def through(name):
        return has(name)
    """

_SIGNATURES = """
    import functools
    import inspect

    import lib.comm as comm


    @functools.lru_cache(maxsize=None)
    def supports(symbol, *params):
        fn = getattr(comm, symbol, None)
        if fn is None:
            return False
        known = inspect.signature(fn).parameters
        return all(p in known for p in params)


    def takes(fn, name):
        return name in inspect.signature(fn).parameters



    def has(name):
        return hasattr(comm, name)
    """

HELPERS = (
    marked(
        "helpers_of_another_file",
        """
        import lib.comm as comm
        from util import Probe, at_least, find, has, has_all, has_every, has_kind, has_module, member, require, through


        def run():
            if has("gather"):
                comm.gather(1, axis=0)
            if has("legacy"):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises


        def run_all():
            if has_all("gather", "legacy"):
                comm.gather(1, 0)
                comm.legacy(1)


        def run_every():
            if has_every(["gather", "Plan"]):
                comm.gather(1, axis=0)


        def run_member():
            if member("Ring", "checkpoint"):
                ring = comm.Ring(1)
                ring.checkpoint()  #! DW102 path 0.2.0.post1 raises


        def run_version():
            if at_least("0.2"):
                comm.gather(1, axis=0)
            if at_least("0.10"):
                comm.extra.deep(1, 2, c=3)


        def run_kind():
            if has_kind("ga"):
                comm.gather(1, axis=0)


        def run_module():
            if has_module("extra"):
                from lib.comm.extra import deep

                deep(1, 2)


        def run_static():
            if Probe.has("gather"):
                comm.gather(1, axis=0)
            if Probe.has_too("gather"):
                comm.gather(1, axis=0)


        def run_through():
            if through("gather"):
                comm.gather(1, axis=0)


        def run_found():
            gather = find("gather")
            if gather is not None:
                gather(1, 0)  #! DW102 axis 0.10.0 raises


        def run_required():
            require("gather")
            comm.gather(1, axis=0)
        """,
        util=_UTIL,
    ),
    marked(
        "helpers_that_read_a_signature",
        """
        import lib.comm as comm
        from util import supports, takes


        def run():
            if supports("create", "group"):
                comm.create(1, 0, group=None)
            if supports("gather", "axis", "out"):
                comm.gather(1, axis=0, out=None)
            if supports("gather"):
                comm.gather(1, axis=0)


        def run_takes():
            if takes(comm.create, "group"):
                comm.create(1, 0, group=None)
            kwargs = {name: None for name in ("group", "rank") if takes(comm.create, name)}
            comm.create(1, **kwargs)
        """,
        util=_SIGNATURES,
    ),
    marked(
        "a_helper_that_is_told_what_nobody_knows",
        """
        import lib.comm as comm
        from util import has, supports


        def run(name, x):
            if has(name):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
            if supports("create", name):
                comm.create(1, 0, group=None)  #! DW101 group 0.1.0 raises may
        """,
        runs=False,
        util=_SIGNATURES,
    ),
)
