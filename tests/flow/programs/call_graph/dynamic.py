"""Names that are made while the program runs."""

from __future__ import annotations

from tests.flow.marked import marked

DYNAMIC = (
    marked(
        "dynamic_eval",
        """
        import lib.comm as comm


        def run(x):
            return eval("comm.fuse")(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dynamic_exec",
        """
        import lib.comm as comm


        def run(x):
            space = {"comm": comm}
            exec("action = comm.fuse", space)  #? `lib.comm` is passed to a function that cannot be followed
            return space["action"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dynamic_globals",
        """
        import lib.comm as comm

        join = comm.fuse


        def _go(action, x):
            return action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return globals()["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_function(x):
            return globals()["_go"](comm.create, x)
        """,
    ),
    marked(
        "dynamic_getattr_of_self",
        """
        import lib.comm as comm


        class Step:
            def go_join(self, action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises

            def go(self, name, x):
                go = getattr(self, "go_" + name)
                return go(comm.fuse, x)  #? `lib.comm.fuse` is passed to a function that cannot be followed


        def run(x):
            return Step().go("join", x)
        """,
    ),
    marked(
        "dynamic_setattr",
        """
        import lib.comm as comm


        class Step:
            pass


        def run(x):
            step = Step()
            setattr(step, "action", comm.fuse)
            return step.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_class(x):
            for name in ("make", "build"):
                setattr(Step, name, staticmethod(comm.create))
            return Step.build(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dynamic_import_module",
        """
        import importlib


        def run(x):
            return importlib.import_module("lib.comm").fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_joined(x):
            package = "lib"
            module = importlib.import_module(f"{package}.comm")
            return module.create(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "dynamic_dunder_import",
        """
        def run_dunder(x):
            return __import__("lib.comm").comm.fuse(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_from(x):
            return __import__("lib.comm", fromlist=["fuse"]).fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "dynamic_class_by_type",
        """
        import lib.comm as comm


        def _go(self, x):
            return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        Step = type("Step", (), {"action": staticmethod(comm.fuse), "go": _go})


        def run(x):
            return Step().go(x)
        """,
    ),
    marked(
        "dynamic_dict_of_an_instance",
        """
        import lib.comm as comm


        class Step:
            def __init__(self):
                self.__dict__["action"] = comm.fuse


        def run(x):
            return Step().action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_vars(x):
            return vars(comm)["create"](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
)
