"""The package under other names: given to functions, kept in attributes, looked up."""

from __future__ import annotations

from tests.flow.marked import marked

HAVOC = (
    marked(
        "package_under_another_name",
        """
        import lib

        package = lib


        def run():
            return package.comm.create(1, 2, group=3)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "package_handed_to_a_function",
        """
        import lib


        def _make(package):
            return package.comm.create(1, 2, group=3)  #! DW101 group 0.1.0 raises


        def run():
            return _make(lib)
        """,
    ),
    marked(
        "package_kept_in_an_attribute",
        """
        import lib


        class Layer:
            def __init__(self):
                self.package = lib

            def make(self):
                return self.package.comm.create(1, 2, group=3)  #! DW101 group 0.1.0 raises


        def run():
            return Layer().make()
        """,
    ),
    marked(
        "part_of_the_package_by_getattr",
        """
        import lib


        def run():
            return getattr(lib, "comm").create(1, 2, group=3)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "package_out_of_the_modules_of_python",
        """
        import sys

        import lib.comm


        def run():
            return sys.modules["lib"].comm.create(1, 2, group=3)  #! DW101 group 0.1.0 raises
        """,
    ),
)
