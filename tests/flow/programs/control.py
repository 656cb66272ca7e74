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
        "what_one_turn_leaves_a_later_one_sees",
        """
        import lib.comm as comm


        def run(x):
            options = {}
            for _ in range(4):
                comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises
                options["early"] = True


        def run_of_a_variable(x):
            later = None
            options = {}
            for _ in range(4):
                comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises
                if later is not None:
                    options = {"early": later}
                later = True
        """,
    ),
    marked(
        "what_one_turn_leaves_in_a_variable_of_the_module",
        """
        import lib.comm as comm

        gather = None


        def note():
            global gather
            gather = comm.gather  #! DW201 gather 0.1.0 raises


        def run(x):
            for _ in range(3):
                if gather is not None:
                    gather(x, 1)  #! DW102 axis 0.10.0 raises
                note()
        """,
    ),
    marked(
        "what_one_turn_leaves_in_an_attribute",
        """
        import lib.comm as comm


        class Fusion:
            def __init__(self):
                self.options = {}

            def reduce(self, x):
                comm.fuse(x, 1, **self.options)  #! DW101 early 0.1.0 raises
                self.options = {"early": True}


        def run(x):
            fusion = Fusion()
            for _ in range(3):
                fusion.reduce(x)
        """,
    ),
    marked(
        "a_turn_that_changes_nothing",
        """
        import lib.comm as comm


        def run(x):
            for _ in range(20):
                for _ in range(20):
                    for _ in range(20):
                        comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_to_the_last(x):
            for name in ("output", "bias", "early"):
                comm.fuse(x, 1)
            return comm.fuse(x, 1, **{name: 2})  #! DW101 early 0.1.0 raises

        """,
    ),
    marked(
        "a_break_where_it_is_there",
        """
        import lib.comm as comm


        def run(x):
            found = None
            for _ in range(3):
                if hasattr(comm, "gather"):
                    found = comm.gather
                    break
            if found is not None:
                return found(x, axis=0)
            return comm.legacy(x)
        """,
    ),
    marked(
        "while_nothing_changes",
        """
        import lib.comm as comm


        def run(x):
            turns = 0
            while turns < 5:
                comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
                turns += 1


        def use(queue, x):
            while not queue.empty():
                comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def use_later(queue, x):
            options = {}
            while not queue.empty():
                comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises
                options["early"] = True
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
                    return comm.create(1, 0, **kwargs)  #! DW101 group 0.1.0 guarded@8
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
    marked(
        "a_function_inside_reads_what_the_loop_goes_through",
        """
        import lib.comm as comm


        def run(x):
            use = lambda: {name: 1}
            for name in ("output", "early"):
                comm.fuse(x, 1, **use())  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "loops_that_ended_before_do_not_count",
        """
        import lib.comm as comm


        def run(xs):
            for _ in xs:
                pass
            for _ in xs:
                pass
            for _ in xs:
                pass
            while xs:
                pass
            while xs:
                pass
            options = {}
            for x in xs:
                comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises
                options["early"] = True
        """,
        runs=False,
    ),
    marked(
        "what_one_turn_leaves_beside_the_attribute_it_assigns",
        """
        import lib.comm as comm


        class State:
            pass


        def run_beside(x, ys):
            state = State()
            state.early = None
            for state.item in ys:
                if state.early is not None:
                    comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
                state.early = 1


        def run_of_that_name(x, ys):
            item = None
            state = State()
            for state.item in ys:
                if item:
                    comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
                item = True
        """,
        runs=False,
    ),
)
