"""Built-in functions call what they are given."""

from __future__ import annotations

from tests.flow.marked import marked

BUILTINS = (
    marked(
        "builtins_map",
        """
        import lib.comm as comm


        def step(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return list(map(step, [x]))


        def run_of_the_library(x):
            return list(map(comm.fuse, [x]))  #! DW102 workspace 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "builtins_map_over_two_sequences",
        """
        import lib.comm as comm


        def run_two_sequences(x):
            return list(map(comm.create, [1], [0], [x]))  #! DW103 create 0.1.0, 0.10.0 raises
        """,
    ),
    marked(
        "builtins_map_of_functions",
        """
        import lib.comm as comm


        def _call(action):
            return action(1, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run():
            return [*map(_call, (comm.fuse,))]
        """,
    ),
    marked(
        "builtins_filter",
        """
        import lib.comm as comm


        def run(x):
            for action in filter(None, [None, comm.fuse]):
                action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "builtins_filter_by_a_function",
        """
        import lib.comm as comm


        def run_test(x):
            return list(filter(lambda part: comm.create(1, 0, group=part), [x]))  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "builtins_key_of_sorted_and_max",
        """
        import lib.comm as comm


        def _rank(part):
            return comm.fuse(part, 1, early=True) is None  #! DW101 early 0.1.0 raises


        def run(x):
            return sorted([x, 1], key=_rank)


        def run_max(x):
            return max([x, 1], key=lambda part: id(comm.create(1, 0, group=part)))  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "builtins_zip_and_enumerate",
        """
        import lib.comm as comm


        def run(x):
            for action, given in zip([comm.create, comm.create], [(1, 0), (1, 0)]):
                action(*given)
            for number, action in enumerate((comm.fuse,)):
                action(x, number, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "builtins_getattr",
        """
        import lib.comm as comm


        def run(x):
            return getattr(comm, "fuse")(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_joined(x):
            name = "fu" + "se"
            return getattr(comm, name)(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_default(x):
            action = getattr(comm, "gather", None)
            return action(x, axis=0) if action else None
        """,
    ),
    marked(
        "builtins_next_and_iter",
        """
        import lib.comm as comm


        def run(x):
            actions = iter([comm.fuse])
            return next(actions)(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "builtins_reversed",
        """
        import lib.comm as comm


        def run_reversed(x):
            for action in reversed([comm.create]):
                action(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "builtins_type_gives_the_class",
        """
        import lib.comm as comm


        class Step:
            def go(self, x):
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            step = Step()
            return type(step)().go(x)


        def run_of_the_library(x):
            ring = comm.Ring(1)
            return type(ring)(1, shape=x)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises
        """,
    ),
)
