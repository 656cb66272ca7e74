"""Variables of modules that are read and written by name: ``globals()``, ``vars(module)``, ``module.name = value``."""

from __future__ import annotations

from tests.flow.marked import marked

NAMESPACES = (
    marked(
        "variables_made_in_a_loop",
        """
        import lib.comm as comm

        _NAMES = ("fuse", "create")

        for _n in _NAMES:
            globals()["fi_" + _n] = getattr(comm, _n, None)


        def run(x):
            return fi_fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return globals()["fi_create"](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "variables_set_on_the_module_itself",
        """
        import sys
        import lib.comm as comm


        def _load(name, to):
            setattr(sys.modules[__name__], to, getattr(comm, name))


        _load("fuse", "join")
        _load("create", "make")


        def run(x):
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "variables_put_into_globals",
        """
        import lib.comm as comm


        def _load():
            vars().update(x=1)
            globals().update({"join": comm.fuse, "make": comm.create})


        _load()


        def run(x):
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "module_under_another_name",
        """
        import step as first
        import step as second


        def run(x):
            first.other = first.action
            return second.other(x, 1, early=1.0)  #! DW101 early 0.1.0 raises
        """,
        step="""
        from lib.comm import fuse as action
        """,
    ),
    marked(
        "variables_read_by_name",
        """
        import lib.comm as comm


        def run(x):
            globals()["late"] = comm.fuse
            return late(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_get(x):
            return globals().get("nothing", comm.create)(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_default(x):
            return vars(helpers)["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        import helpers
        """,
        helpers="""
        from lib.comm import fuse as join
        """,
    ),
    marked(
        "variable_of_an_unknown_name",
        """
        import lib.comm as comm


        def run(x, name):
            globals()[name] = comm.fuse  #? `lib.comm.fuse` is put into a module under a name that is not known
            return 1
        """,
    ),
    marked(
        "functions_found_by_name",
        """
        import lib.comm as comm


        def _pick(name):
            return globals()[f"_{name}_impl"]


        def _fuse_impl(action, x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def _make_impl(action, x):
            return action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return _pick("fuse")(comm.fuse, x)


        def run_make(x):
            return _pick("make")(comm.create, x)
        """,
    ),
)
