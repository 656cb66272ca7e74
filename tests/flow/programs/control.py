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
    marked(
        "nested_loops_end",
        """
        import lib.comm as comm


        def use(xs):
            for a in xs:
                for b in a:
                    for c in b:
                        for d in c:
                            while d:
                                comm.fuse(d, 1, early=a)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "loop_that_retries",
        """
        import lib.comm as comm


        def run(g):
            for kwargs in ({"group": g}, {}):
                try:
                    return comm.create(1, 0, **kwargs)  #! DW101 group 0.1.0 silent@8
                except TypeError:
                    continue
            return None
        """,
        runs=False,
    ),
    marked(
        "dict_comprehension_with_a_condition",
        """
        import lib.comm as comm

        OPTIONS = {"group": None, "rank": 0}


        def run():
            return comm.create(1, **{k: v for k, v in OPTIONS.items() if k != "group"})
        """,
    ),
    marked(
        "generator",
        """
        import lib.comm as comm


        def _calls(x):
            yield comm.fuse
            yield comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run(x):
            return list(_calls(x))
        """,
    ),
    marked(
        "match_on_a_class_and_a_guard",
        """
        import lib.comm as comm


        def run(x):
            match x:
                case int() | str():
                    return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
                case _ if hasattr(comm, "gather"):
                    return comm.gather(x, axis=0)
                case other:
                    return comm.legacy(other)
        """,
        runs=False,
    ),
    marked(
        "condition_in_a_while",
        """
        import lib.comm as comm


        def run(x):
            while not hasattr(comm, "gather"):
                return comm.legacy(x)
            return comm.gather(x, axis=0)
        """,
    ),
    marked(
        "deleted_name",
        """
        import lib.comm as comm

        helper = comm.fuse
        del helper


        def run(x):
            try:
                return helper(x)
            except NameError:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
)
