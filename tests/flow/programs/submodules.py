"""Submodules as attributes of their package: there once anything has imported them, and not before."""

from __future__ import annotations

from tests.flow.marked import marked

SUBMODULES = (
    marked(
        "submodule_that_nothing_loads",
        """
        import lib.comm as comm


        def run(a):
            return comm.apart.lone(a)  #! DW201 apart 0.1.0 to 0.2.0 raises


        def run_again(a):
            if hasattr(comm, "apart"):
                return comm.apart.lone(a, b=1)
            return comm.legacy(a)


        def run_loaded(a):
            return comm.extra.deep(a, b=a)  #! DW202 extra 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "submodule_that_the_file_imports",
        """
        import lib.comm
        import lib.comm.apart


        def run(a):
            return lib.comm.apart.lone(a, b=1)  #! DW101 b 0.1.0 to 0.2.0 raises


        def run_again(a):
            if not hasattr(lib.comm, "apart"):
                return lib.comm.nowhere(a)
            return lib.comm.apart.lone(a)
        """,
    ),
    marked(
        "submodule_that_a_from_import_loads",
        """
        import lib.comm as comm
        from lib.comm import apart
        from lib.comm.apart import lone


        def run(a):
            return apart.lone(a, c=1), lone(a)  #! DW101 c 0.1.0 to 0.10.0 raises


        def run_again(a):
            return comm.apart.lone(a)
        """,
    ),
    marked(
        "submodule_imported_by_name",
        """
        import importlib

        import lib.comm as comm

        apart = importlib.import_module("lib.comm.apart")


        def run(a):
            return comm.apart.lone(a)
        """,
    ),
    marked(
        "submodule_that_another_file_imports",
        """
        import lib.comm as comm
        import other


        def run(a):
            return comm.apart.lone(a, b=other.loaded())  #! DW101 b 0.1.0 to 0.2.0 raises
        """,
        other="""
        import lib.comm.apart


        def loaded():
            return lib.comm.apart.__name__
        """,
    ),
    marked(
        "submodule_that_another_package_may_load",
        """
        import attr

        import lib.comm as comm


        def run(a):
            return comm.apart.lone(a)  #! DW201 apart 0.1.0 to 0.2.0


        def run_asked(a):
            if hasattr(comm, "nowhere"):
                return comm.nowhere.lone(a)
            return comm.extra.deep(a, b=a)  #! DW202 extra 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "submodule_that_is_looked_for_and_another_package_may_load",
        """
        import attr

        import lib.comm as comm


        def run(a):
            if hasattr(comm, "apart"):
                return comm.apart.lone(a)
            return comm.legacy(a)
        """,
        runs=False,
    ),
    marked(
        "missing_submodule_is_taken",
        """
        import lib.comm as comm


        def run(a):
            try:
                return comm.apart.lone(a)  #! DW201 apart 0.1.0 to 0.2.0 guarded@7
            except AttributeError:
                return None
        """,
    ),
)
