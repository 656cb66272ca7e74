"""Guards that cannot be followed: what is behind one may be reached, and nobody says that it is."""

from __future__ import annotations

from tests.flow.marked import marked

TAINT = (
    marked(
        "what_a_foreign_function_says_of_the_library",
        """
        import lib.comm as comm
        from elsewhere import supports

        OK = supports(comm, "gather")  #? `lib.comm` is passed to a function that cannot be followed


        def run(x):
            if OK:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
            return x


        def run_inline(x):
            if supports(comm, "gather") and x:  #? `lib.comm` is passed to a function that cannot be followed
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        def run_afterwards(x):
            if supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                print(x)
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "one_way_leaves",
        """
        import lib.comm as comm
        from elsewhere import supports


        def run(x):
            if not supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                return None
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        def run_unless_asked(x, forced):
            if not forced:
                if not supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                    raise RuntimeError("no gather")
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_either(x):
            if supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                pass
            elif supports(comm, "fuse"):  #? `lib.comm` is passed to a function that cannot be followed
                pass
            else:
                return None
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        def run_each(x, names):
            for name in names:
                if not supports(comm, name):  #? `lib.comm` is passed to a function that cannot be followed
                    continue
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "a_flag_that_such_a_test_sets",
        """
        import lib.comm as comm
        from elsewhere import supports

        if supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
            OK = True
        else:
            OK = False
        SAID = supports(comm, "gather")  #? `lib.comm` is passed to a function that cannot be followed
        MODE = "new" if SAID else "old"


        def has_gather():
            if supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                return True
            return False


        class Layer:
            def __init__(self):
                self.ready = False
                if supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                    self.ready = True

            def forward(self, x):
                if self.ready:
                    comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        def run(x):
            if OK:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
            if MODE == "new":
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
            if has_gather():
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
        runs=False,
    ),
    marked(
        "what_is_called_when_such_a_test_holds",
        """
        import lib.comm as comm
        from elsewhere import supports


        def run(x):
            if supports(comm, "gather"):  #? `lib.comm` is passed to a function that cannot be followed
                return _helped(x)
            return x


        def _helped(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
        runs=False,
    ),
    marked(
        "an_argument_that_such_a_test_adds",
        """
        import lib.comm as comm
        from elsewhere import supports


        def run(world, rank):
            kwargs = {}
            if supports(comm.create, "group"):  #? `lib.comm.create` is passed to a function that cannot be followed
                kwargs["group"] = None
            return comm.create(world, rank, **kwargs)  #! DW101 group 0.1.0 raises may
        """,
        runs=False,
    ),
    marked(
        "a_version_held_against_something_unknown",
        """
        from importlib.metadata import version

        from packaging.version import Version

        import lib.comm as comm
        from elsewhere import LEAST


        def run(x):
            if Version(version("lib-dist")) >= Version(LEAST):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        def run_told(x, least):
            if version("lib-dist").startswith(least):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
        runs=False,
    ),
    marked(
        "what_a_signature_is_asked_that_nobody_follows",
        """
        import inspect

        import lib.comm as comm

        TEXT = str(inspect.signature(comm.create).return_annotation)


        def run(world, rank):
            if "Space" in TEXT:
                return comm.create(world, rank, group=None)  #! DW101 group 0.1.0 raises may
            if comm.create.__doc__:
                return comm.create(world, rank, group=None)  #! DW101 group 0.1.0 raises may
        """,
        runs=False,
    ),
    marked(
        "an_ordinary_condition_is_none_of_these",
        """
        import lib.comm as comm
        from elsewhere import enabled


        def run(x, wanted):
            if enabled(x) and wanted:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_answered(x):
            ws = comm.create(1, 0)
            ok = enabled(ws)  #? an instance of `lib.comm.Workspace` is passed to a function that cannot be followed
            if ok or ws.fits(1, 2):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "a_flag_that_other_processes_agree_on",
        """
        import array
        import functools

        import lib.comm as comm

        workspace = 1 if hasattr(comm, "gather") else None


        def _reduce(x, workspace):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        class Model:
            def __init__(self):
                self.fused = None

            def setup(self):
                ready = array.array("i", [int(workspace is not None)])
                if not ready.pop():
                    return
                self.fused = functools.partial(_reduce, workspace=workspace)

            def forward(self, x):
                return self.fused(x) if self.fused is not None else x


        def run(x):
            ready = array.array("i", [int(workspace is not None)])
            if ready.pop():
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises may


        def run_model(x):
            model = Model()
            model.setup()
            model.forward(x)
        """,
        runs=False,
    ),
)
