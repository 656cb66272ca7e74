"""Loops, comprehensions, match and with: where control goes, and what is bound on the way."""

from __future__ import annotations

from tests.flow.marked import marked

CONTROL = (
    marked(
        "loop_over_names",
        """
        import lib.comm as comm


        def run(x):
            for name in ("gather", "legacy"):
                if hasattr(comm, name):
                    return getattr(comm, name)(x, 0)
            return x
        """.replace("(x, 0)", "(x, 0)  #! DW102 axis 0.10.0 raises; DW103 legacy 0.1.0 raises"),
    ),
    marked(
        "loop_builds_a_dict",
        """
        import inspect

        import lib.comm as comm


        def run(g):
            kwargs = {}
            for name, value in (("world_size", 1), ("rank", 0), ("group", g)):
                if name in inspect.signature(comm.create).parameters:
                    kwargs[name] = value
            return comm.create(**kwargs)
        """,
    ),
    marked(
        "loop_over_something_unknown",
        """
        import lib.comm as comm


        def use(xs):
            kwargs = {}
            for x in xs:
                kwargs["early"] = x
            return comm.fuse(1, 2, **kwargs)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "break_and_else",
        """
        import lib.comm as comm


        def run(x):
            for name in ("gather",):
                if hasattr(comm, name):
                    break
            else:
                return comm.legacy(x)
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "while_true",
        """
        import lib.comm as comm


        def run(x):
            while True:
                if not hasattr(comm, "legacy"):
                    break
                return comm.legacy(x)
            return comm.gather(x, axis=0)
        """,
    ),
    marked(
        "match_on_a_version",
        """
        import lib
        import lib.comm as comm


        def run(x):
            match lib.__version__:
                case "0.1.0" | "0.2.0":
                    return comm.legacy(x)
                case "0.2.0.post1":
                    return comm.gather(x, 0)
                case _:
                    return comm.legacy(x)  #! DW201 legacy 0.10.0 raises
        """,
    ),
    marked(
        "match_on_none",
        """
        import lib.comm as comm


        def run(x):
            match getattr(comm, "legacy", None):
                case None:
                    return comm.gather(x, axis=0)
                case function:
                    return function(x)
        """,
    ),
    marked(
        "with_binds_the_library",
        """
        import contextlib

        import lib.comm as comm


        @contextlib.contextmanager
        def workspace():
            yield comm.create(1, 0)


        def run(x):
            with workspace() as ws:
                return comm.fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "comprehension_over_names",
        """
        import lib.comm as comm

        FOUND = [name for name in ("legacy", "gather") if hasattr(comm, name)]


        def run(x):
            if "gather" in FOUND:
                return comm.gather(x, axis=0)
            return comm.legacy(x)
        """,
    ),
    marked(
        "conditional_expression",
        """
        import lib.comm as comm


        def run(x):
            function = comm.legacy if hasattr(comm, "legacy") else comm.gather
            return function(x)  #! DW102 axis 0.2.0.post1 to 0.10.0 raises
        """,
    ),
)
