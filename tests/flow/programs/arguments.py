"""What a call passes: keyword dicts built in every way, lists, partials, and places where nobody can know."""

from __future__ import annotations

from tests.flow.marked import marked

ARGUMENTS = (
    marked(
        "dict_built_by_steps",
        """
        import lib.comm as comm


        def run(g):
            kwargs = dict(world_size=1, rank=0)
            kwargs["group"] = g
            return comm.create(**kwargs)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dict_that_depends_on_a_flag",
        """
        import inspect

        import lib.comm as comm

        TAKES = "group" in inspect.signature(comm.create).parameters


        def run(g):
            kwargs = {"world_size": 1, "rank": 0}
            if TAKES:
                kwargs["group"] = g
            return comm.create(**kwargs)
        """,
    ),
    marked(
        "update_or_pop_and_setdefault",
        """
        import lib.comm as comm


        def run(g):
            kwargs = {"world_size": 1} | {"rank": 0}
            kwargs.update({"group": g}, extra=1)
            kwargs.pop("extra")
            kwargs.setdefault("group", None)
            return comm.create(**kwargs)  #! DW101 group 0.1.0 raises


        def run_removed(g):
            kwargs = {"world_size": 1, "rank": 0, "group": g}
            del kwargs["group"]
            return comm.create(**kwargs)
        """,
    ),
    marked(
        "comprehension_over_a_signature",
        """
        import inspect

        import lib.comm as comm


        def run(g):
            wanted = {"world_size": 1, "rank": 0, "group": g}
            names = inspect.signature(comm.create).parameters
            return comm.create(**{k: v for k, v in wanted.items() if k in names})
        """,
    ),
    marked(
        "dict_returned_by_a_method",
        """
        import lib.comm as comm


        class Settings:
            def options(self):
                options = {"rank": 0}
                options["group"] = None
                return options


        def run(g):
            return comm.create(1, **Settings().options())  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "unknown_keywords",
        """
        import json

        import lib.comm as comm

        load = json.load


        def run():
            return comm.create(**load())  #? `lib.comm.create` is called with `**` of unknown content
        """.replace("  #?", "  #?"),
        runs=False,
    ),
    marked(
        "list_of_arguments",
        """
        import lib.comm as comm


        def run(x, ws):
            args = [x, ws]
            args.append(None)
            args += [True]
            return comm.fuse(*args)  #! DW103 fuse 0.1.0 to 0.2.0 raises; DW104 early 0.1.0 to 0.2.0
        """,
    ),
    marked(
        "missing_and_too_many",
        """
        import lib.comm as comm


        def run(x, ws):
            comm.fuse(x)  #! DW102 workspace 0.1.0 to 0.10.0 raises
            comm.create(1, 0, None)  #! DW103 create 0.1.0, 0.10.0 raises
            return ws
        """,
    ),
    marked(
        "shifted",
        """
        import lib.comm as comm


        def run(x, ws, out):
            return comm.fuse(x, ws, out)  #! DW104 early 0.1.0 to 0.2.0
        """,
        runs=False,
    ),
    marked(
        "partial",
        """
        import functools

        import lib.comm as comm


        def run(g):
            make = functools.partial(comm.create, group=g)  #! DW101 group 0.1.0 raises
            return make(1, 0)
        """,
    ),
    marked(
        "partial_of_a_method_and_of_a_partial",
        """
        from functools import partial

        from lib.comm import Ring


        def run(ws):
            fits = partial(Ring(1).fits, oneshot=True)  #! DW101 oneshot 0.10.0 raises
            return partial(fits, 1)(2)
        """,
    ),
    marked(
        "keyword_passed_twice",
        """
        import lib.comm as comm


        def run(x, ws):
            kwargs = {"workspace": ws}
            return comm.fuse(x, ws, **kwargs)  #! DW104 workspace 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "conditional_keywords_in_place",
        """
        import inspect

        import lib.comm as comm

        TAKES = "group" in inspect.signature(comm.create).parameters


        def run(g):
            return comm.create(1, 0, **({"group": g} if TAKES else {}))


        def run_otherwise(g):
            return comm.create(1, 0, **({} if TAKES else {"group": g}))  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dict_in_place_update",
        """
        import lib.comm as comm

        DEFAULTS = {"rank": 0}


        def run(g):
            kwargs = {**DEFAULTS, "world_size": 1}
            kwargs |= {"group": g}
            return comm.create(**kwargs)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "keyword_through_positional_star",
        """
        import lib.comm as comm


        def _call(*args, **kwargs):
            return comm.gather(*args, **kwargs)  #! DW102 axis 0.10.0 raises


        def run(x):
            if not hasattr(comm, "gather"):
                return None
            return _call(x, 0)
        """,
    ),
    marked(
        "default_values_decide",
        """
        import lib.comm as comm


        def _make(world_size, group=None):
            kwargs = {}
            if group is not None:
                kwargs["group"] = group
            return comm.create(world_size, 0, **kwargs)  #! DW101 group 0.1.0 raises


        def run():
            return _make(1)


        def run_with_group():
            return _make(1, group=2)
        """,
    ),
    marked(
        "argument_removed_where_it_is_not_taken",
        """
        import inspect

        import lib.comm as comm


        def _known(function, kwargs):
            names = inspect.signature(function).parameters
            return {k: v for k, v in kwargs.items() if k in names}


        def run(x, ws):
            return comm.fuse(x, ws, **_known(comm.fuse, {"early": True, "bias": 1.0}))
        """,
    ),
)
