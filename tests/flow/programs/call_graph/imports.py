"""Where a name comes from."""

from __future__ import annotations

from tests.flow.marked import marked

IMPORTS = (
    marked(
        "imports_chained",
        """
        from first import action


        def run(x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        first="from second import action\n",
        second="from lib.comm import fuse as action\n",
    ),
    marked(
        "imports_star",
        """
        from names import *


        def run(x):
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_hidden(x):
            return _make(1, 0)
        """,
        names="""
        import lib.comm as comm

        __all__ = ["join", "_make"]
        join = comm.fuse
        _make = comm.create
        """,
    ),
    marked(
        "imports_relative",
        """
        from package.inner.step import go, make


        def run(x):
            return go(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
        package__init="from lib.comm import create as made\n",
        package__base="from lib.comm import fuse\n",
        package__inner__init="",
        package__inner__step="""
        from .. import base
        from .. import made as make

        go = base.fuse
        """,
    ),
    marked(
        "imports_of_a_package",
        """
        import package
        from package import join


        def run(x):
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_module(x):
            return package.step.make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
        package__init="""
        from . import step
        from .step import *
        """,
        package__step="""
        import lib.comm as comm

        join, make = comm.fuse, comm.create
        """,
    ),
    marked(
        "imports_submodule_as",
        """
        import package.step as s
        from package import step


        def run(x):
            return s.comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_from(x):
            return step.comm.create(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
        package__init="",
        package__step="from lib import comm\n",
    ),
    marked(
        "imports_in_a_function",
        """
        def run(x):
            from step import action

            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        step="from lib.comm import fuse as action\n",
    ),
    marked(
        "imports_one_module_object",
        """
        def run_twice(x):
            import step as first
            import step as second

            first.other = first.action
            return second.other(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        step="from lib.comm import fuse as action\n",
    ),
    marked(
        "imports_module_getattr",
        """
        import lazy
        from lazy import join


        def run(x):
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_attribute(x):
            return lazy.make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
        lazy="""
        def __getattr__(name):
            import lib.comm as comm

            if name == "join":
                return comm.fuse
            if name == "make":
                return comm.create
            raise AttributeError(name)
        """,
    ),
    marked(
        "imports_of_each_other",
        """
        import left


        def run(x):
            return left.go(x)
        """,
        left="""
        import right
        import lib.comm as comm

        action = comm.fuse


        def go(x):
            return right.go(x)
        """,
        right="""
        import left


        def go(x):
            return left.action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
)
