"""Functions are values of dicts."""

from __future__ import annotations

from tests.flow.marked import marked

DICTS = (
    marked(
        "dicts_call",
        """
        import lib.comm as comm

        ACTIONS = {"make": comm.create, "join": comm.fuse}


        def run(x):
            ACTIONS["make"](1, 0)
            return ACTIONS["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dicts_key_added_later",
        """
        import lib.comm as comm


        def run(x):
            actions = {}
            actions["make"] = comm.create
            actions["join"] = comm.fuse
            actions["make"](1, 0)
            return actions["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_replaced(x):
            actions = {"join": comm.create}
            actions["join"] = comm.fuse
            return actions["join"](x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "dicts_update_and_union",
        """
        import lib.comm as comm


        def run(x):
            actions = {"a": comm.create}
            actions.update({"a": comm.fuse})
            return actions["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_union(x):
            actions = {"a": comm.create} | {"a": comm.fuse}
            return actions["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_spread(x):
            actions = {"a": comm.create, **dict(a=comm.fuse)}
            return actions["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dicts_nested",
        """
        import lib.comm as comm

        ACTIONS = {"one": {"go": comm.create}, "two": {"go": comm.fuse}}


        def run(x):
            ACTIONS["one"]["go"](1, 0)
            return ACTIONS["two"]["go"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dicts_filled_by_another_function",
        """
        import lib.comm as comm


        def _fill(actions, key):
            actions[key] = comm.fuse


        def run(x):
            actions = {"a": comm.create}
            _fill(actions, "a")
            return actions["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dicts_parameter_and_return",
        """
        import lib.comm as comm


        def _table():
            return {"make": comm.create, "join": comm.fuse}


        def _call(actions, x):
            return actions["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _call(_table(), x)


        def run_assigned(x):
            table = _table()
            return table["make"](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dicts_get_pop_and_setdefault",
        """
        import lib.comm as comm


        def run(x):
            return {"a": comm.fuse}.get("a")(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_default(x):
            return {}.get("a", comm.create)(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_pop(x):
            return {"a": comm.fuse}.pop("a")(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_setdefault(x):
            return {}.setdefault("a", comm.create)(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dicts_walked",
        """
        import lib.comm as comm


        def run(x):
            for name, action in {"join": comm.fuse}.items():
                action(x, name, early=True)  #! DW101 early 0.1.0 raises


        def run_values(x):
            return [action(1, 0, group=x) for action in {"a": comm.create}.values()]  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dicts_walked_by_key",
        """
        import lib.comm as comm


        def run_keys(x):
            for action in {comm.fuse: 1}:
                action(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "dicts_key_from_elsewhere",
        """
        from keys import JOIN, Keys
        import lib.comm as comm

        ACTIONS = {JOIN: comm.fuse, Keys.MAKE: comm.create, 1: comm.fuse}


        def run(x):
            return ACTIONS["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_enum(x):
            return ACTIONS[Keys.MAKE](1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_true(x):
            return ACTIONS[True](x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        keys="""
        import enum

        JOIN = "join"


        class Keys(enum.Enum):
            MAKE = "make"
        """,
    ),
)
