"""Constants and written-out containers of files that do not touch the library."""

from __future__ import annotations

from tests.flow.marked import marked

CONSTANTS = (
    marked(
        "constants_constants_of_every_kind",
        """
        from consts import FUSE, NAMES, RATE, LIMIT, ALIAS
        import consts
        import lib.comm as comm

        OPS = {FUSE: comm.fuse, consts.MAKE: comm.create}


        def run(x):
            return OPS["fuse"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_alias(x):
            return OPS[ALIAS](x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_names(x):
            if "gather" in NAMES:
                return None
            return comm.gather(x, 1)  #! DW102 axis 0.10.0 raises; DW201 gather 0.1.0 raises


        def run_getattr(x):
            return getattr(comm, consts.GATHER)(x, axis=1)  #! DW201 gather 0.1.0 raises
        """,
        consts="""
        FUSE = "fuse"
        ALIAS = FUSE
        MAKE: str = "make"
        GATHER = "gather"  # the newer one
        NAMES = ("fuse", "create")
        RATE = 1.5
        LIMIT = -3
        """,
    ),
    marked(
        "constants_dict_of_another_file",
        """
        from defaults import EXTRA, OPTIONS
        import lib.comm as comm


        def run(x):
            return comm.create(1, 2, **OPTIONS)  #! DW101 group 0.1.0 raises


        def run_merged(x):
            return comm.fuse(x, 1, **{**EXTRA, "output": None})  #! DW101 early 0.1.0 raises


        def run_or(x):
            return comm.fuse(x, 1, **(EXTRA | {"output": None}))  #! DW101 early 0.1.0 raises


        def run_get(x):
            return comm.create(1, 2, **{k: OPTIONS.get(k) for k in OPTIONS})  #! DW101 group 0.1.0 raises


        def run_copy(x):
            kw = dict(OPTIONS)
            kw.pop("group")
            return comm.create(1, 2, **kw)
        """,
        defaults="""
        EXTRA = {"early": True}
        OPTIONS = {"group": None}
        """,
    ),
    marked(
        "constants_class_of_constants",
        """
        from names import Ops
        import lib.comm as comm

        TABLE = {Ops.FUSE: comm.fuse, Ops.MAKE: comm.create}
        ORDER = [comm.legacy, comm.fuse]  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run(x):
            return TABLE[Ops.MAKE](1, 2, group=x)  #! DW101 group 0.1.0 raises


        def run_index(x):
            return ORDER[Ops.SECOND](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        names="""
        class Ops:
            FUSE = "fuse"
            MAKE = "make"
            SECOND = 1
        """,
    ),
    marked(
        "constants_rebound",
        """
        from config import KIND
        import config
        import lib.comm as comm


        def run(x):
            config.use()
            if config.KIND == "new":
                return comm.gather(x, axis=1)  #! DW201 gather 0.1.0 raises
        """,
        config="""
        KIND = "old"


        def use():
            global KIND
            KIND = "new"
        """,
    ),
    marked(
        "constants_chosen_in_branches",
        """
        from config import KIND
        import lib.comm as comm


        def run(x):
            if KIND == "new":
                return comm.gather(x, axis=1)  #! DW201 gather 0.1.0 raises
        """,
        config="""
        import os

        KIND = "old"
        if os.environ.get("HOME"):
            KIND = "new"
        """,
    ),
    marked(
        "constants_flag_elsewhere",
        """
        from config import ENABLED
        import lib.comm as comm


        def run(x):
            if ENABLED:
                return comm.gather(x, axis=1)  #! DW201 gather 0.1.0 raises
            return x
        """,
        config="""
        ENABLED = True
        """,
    ),
)
