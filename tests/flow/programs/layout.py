"""What stands on several lines, or in quotes."""

from __future__ import annotations

from tests.flow.marked import marked

LAYOUT = (
    marked(
        "an_import_on_two_lines",
        """
        import lib.comm as comm
        from package import options


        def run(x):
            return comm.fuse(x, 1, **options())  #! DW101 early 0.1.0 raises
        """,
        package__init="from .made \\\n    import options\n",
        package__made="""
        def options():
            return dict(early=True)
        """,
    ),
    marked(
        "a_module_imported_on_two_lines",
        """
        from package \\
            import made


        def run(x):
            return made.fuse(x, early=True)  #! DW101 early 0.1.0 raises
        """,
        package__init="",
        package__made="""
        import lib.comm as comm


        def fuse(x, **options):
            return comm.fuse(x, 1, **options)
        """,
    ),
    marked(
        "an_annotation_in_quotes",
        """
        import lib.comm as comm


        def run(x: "comm.Workspace"):
            return comm.create(1, 0)
        """,
    ),
    marked(
        "a_bracket_in_a_comment_closes_nothing",
        """
        import lib.comm as comm
        from package.made import (  # all (or none)
            other,
            options,
        )


        def run(x):
            return comm.fuse(x, 1, **options())  #! DW101 early 0.1.0 raises
        """,
        package__init="",
        package__made="""
        def other():
            return 1


        def options():
            return dict(early=True)
        """,
    ),
    marked(
        "a_file_that_matters_more_once_its_imports_are_known",
        """
        from lib import comm
        import inspect
        import package

        FLAG = "shape" in inspect.signature(comm.Ring).parameters


        def run():
            if FLAG:
                comm.Ring(size=None, shape=None)


        def run_package():
            return package.go(1)
        """,
        package__init="""
        from .use import go
        """,
        package__use="""
        from lib.comm import fuse


        def go(x):
            if x is None:
                return fuse(1, 2)
            return fuse
        """,
    ),
)
