"""What a function gives back."""

from __future__ import annotations

from tests.flow.marked import marked

RETURNS = (
    marked(
        "returns_a_function",
        """
        import lib.comm as comm


        def _join():
            return comm.fuse


        def run(x):
            action = _join()
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "returns_imported",
        """
        from outer import outer


        def run(x):
            return outer()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        outer="""
        from inner import inner


        def outer():
            return inner()
        """,
        inner="""
        import lib.comm as comm


        def inner():
            return comm.fuse
        """,
    ),
    marked(
        "returns_tuple_and_dict",
        """
        import lib.comm as comm


        def _both():
            return comm.create, {"join": [comm.fuse]}


        def run(x):
            make, table = _both()
            make(1, 0)
            return table["join"][0](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_index(x):
            return _both()[0](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "returns_by_a_constant",
        """
        import lib.comm as comm


        def _choose(name):
            if name == "make":
                return comm.create
            elif name == "join":
                return comm.fuse
            raise ValueError(name)


        def run(x):
            _choose("make")(1, 0)
            return _choose("join")(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "returns_of_a_public_function_by_a_constant",
        """
        import lib.comm as comm


        def choose(name):
            if name == "join":
                return comm.fuse
            return comm.create


        def run(x):
            return choose("join")(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "returns_from_a_match",
        """
        import lib.comm as comm


        def _choose(name):
            match name:
                case "make":
                    return comm.create
                case _:
                    return comm.fuse


        def run(x):
            return _choose("join")(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return _choose("make")(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "returns_self",
        """
        import lib.comm as comm


        class Builder:
            def __init__(self):
                self.action = comm.create

            def with_action(self, action):
                self.action = action
                return self

            def go(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return Builder().with_action(comm.fuse).go(x)
        """,
    ),
    marked(
        "returns_from_a_loop",
        """
        import lib.comm as comm


        def _first(actions):
            for action in actions:
                if action is not None:
                    return action


        def run(x):
            return _first([None, comm.fuse])(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "returns_a_partial",
        """
        import functools
        import lib.comm as comm


        def _bound(x):
            return functools.partial(comm.fuse, x, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _bound(x)(1)
        """,
    ),
)
