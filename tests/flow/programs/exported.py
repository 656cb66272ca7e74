"""What a file exports that holds something of the library: a container, a partial, an object, what a function makes."""

from __future__ import annotations

from tests.flow.marked import marked

EXPORTED = (
    marked(
        "exports_table",
        """
        from ops import OPS


        def run(x):
            OPS["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm

        OPS = {"a": comm.fuse}
        """,
    ),
    marked(
        "exports_table_list",
        """
        from ops import OPS


        def run(x):
            for op in OPS:
                op(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm

        OPS = [comm.fuse]
        """,
    ),
    marked(
        "exports_table_get",
        """
        from ops import ops


        def run(x):
            ops()["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm


        def ops():
            return {"a": comm.fuse}
        """,
    ),
    marked(
        "exports_table_attr",
        """
        from ops import Ops


        def run(x):
            Ops.TABLE["a"](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm


        class Ops:
            TABLE = {"a": comm.fuse}
        """,
    ),
    marked(
        "exports_gen_other",
        """
        from ops import ops


        def run(x):
            for op in ops():
                op(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm


        def ops():
            yield comm.fuse
        """,
    ),
    marked(
        "exports_tuple_other",
        """
        from ops import both


        def run(x):
            fuse, create = both()
            fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm


        def both():
            return comm.fuse, comm.create
        """,
    ),
    marked(
        "exports_inst_holds",
        """
        from ops import OPS


        def run(x):
            OPS.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import types
        import lib.comm as comm

        OPS = types.SimpleNamespace(fuse=comm.fuse)
        """,
    ),
    marked(
        "exports_lambda_other",
        """
        from ops import FUSE


        def run(x):
            FUSE(x, early=True)  #! DW101 early 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm

        FUSE = lambda x, **kw: comm.fuse(x, 1, **kw)
        """,
    ),
    marked(
        "exports_flags_dict",
        """
        from flags import FLAGS
        from ops import fuse


        def run(x):
            if FLAGS["early"]:
                return fuse(x, early=True)
            return fuse(x)
        """,
        flags="""
        import inspect
        import lib.comm as comm

        FLAGS = {"early": "early" in inspect.signature(comm.fuse).parameters}
        """,
        ops="""
        import lib.comm as comm


        def fuse(x, **kw):
            return comm.fuse(x, 1, **kw)
        """,
    ),
    marked(
        "exports_class_with_a_hook",
        """
        from holder import Holder


        def run(x):
            holder = Holder()
            return holder.comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        holder="""
        import lib.comm as comm


        class Holder:
            def __init__(self):
                self.comm = comm

            def options(self):
                return {}

            def make(self):
                return self.comm.create(1, 2, **self.options())
        """,
    ),
)
