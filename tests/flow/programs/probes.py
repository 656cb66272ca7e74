"""Guards that try a call out before it is made."""

from __future__ import annotations

from tests.flow.marked import marked

PROBES = (
    marked(
        "a_signature_that_does_not_bind",
        """
        import inspect

        import lib.comm as comm


        def run(x):
            try:
                inspect.signature(comm.fuse).bind(x, 1, early=True)
            except TypeError:
                return comm.fuse(x, 1)
            return comm.fuse(x, 1, early=True)


        def run_with_what_it_takes(x):
            options = {"early": True}
            try:
                inspect.signature(comm.fuse).bind_partial(**options)
            except TypeError:
                options = {}
            return comm.fuse(x, 1, **options)
        """,
        runs=False,  # the harness takes what bind raises for what a call raised
    ),
    marked(
        "a_signature_that_binds_something_else",
        """
        import inspect

        import lib.comm as comm


        def run(x):
            try:
                inspect.signature(comm.fuse).bind(x, 1)
            except TypeError:
                return comm.fuse(x, 1)
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "the_code_of_a_function_is_asked",
        """
        import inspect
        from importlib.metadata import version

        from packaging.requirements import Requirement

        import lib.comm as comm


        def run():
            code = getattr(getattr(comm.create, "__wrapped__", comm.create), "__code__", None)
            if code is not None and "group" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                return comm.create(1, 0, group=None)
            return comm.create(1, 0)


        def run_short():
            if "group" in comm.create.__code__.co_varnames:
                comm.create(1, 0, group=None)
            if comm.create.__code__.co_argcount > 2:
                comm.create(1, 0, None)
            if "early" in comm.fuse.__code__.co_varnames:
                comm.fuse(1, 2, early=True)
            if "nothing" in comm.fuse.__code__.co_varnames:
                comm.fuse(1, 2, nothing=True)


        def run_asked():
            try:
                inspect.signature(comm.create).parameters["group"]
            except KeyError:
                return comm.create(1, 0)
            return comm.create(1, 0, group=None)


        def run_required():
            if Requirement("lib-dist>=0.2").specifier.contains(version("lib-dist")):
                comm.gather(1, axis=0)
            if version("lib-dist") in Requirement("lib-dist>=0.2").specifier:
                comm.gather(1, axis=0)


        def run_cut():
            names = ("group", "rank")
            for name in names[: 2 if hasattr(comm, "gather") else 0]:
                comm.gather(1, axis=0)
        """,
    ),
    marked(
        "the_signature_of_what_may_be_none",
        """
        import inspect
        import os

        comm = None
        if os.environ.get("FUSED") != "0":
            import lib.comm as comm

        try:
            EARLY = "early" in inspect.signature(getattr(comm, "fuse", None)).parameters
        except TypeError:
            EARLY = False


        def run(x):
            if comm is not None and EARLY:
                comm.fuse(x, 1, late=True)  #! DW101 late 0.2.0 to 0.10.0 raises
            return None
        """,
    ),
)
