"""What is done by text or by name: evaluated, started as a program, got and called through ``operator`` or a proxy."""

from __future__ import annotations

from tests.flow.marked import marked

DYNAMIC = (
    marked(
        "getters_and_callers_of_operator",
        """
        import operator

        import lib
        import lib.comm as comm

        close = operator.methodcaller("close")
        fits = operator.methodcaller("fits", 1, nope=2)
        fuse = operator.attrgetter("comm.fuse")
        both = operator.attrgetter("fuse", "legacy")
        first = operator.itemgetter("call")


        def run(g):
            return close(comm.create(1, 0))  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_fits(g):
            return fits(comm.Workspace(g))  #! DW101 nope 0.1.0 to 0.10.0 raises; DW102 hidden 0.1.0 to 0.10.0 raises


        def run_attribute(x):
            return fuse(lib)(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_both(x):
            return both(comm)[1](x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run_item(x):
            return first({"call": comm.fuse})(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "text_that_is_evaluated_or_executed",
        """
        import subprocess
        import sys

        import lib.comm as comm


        def run(x):
            return eval("comm.fuse(x, 1, early=True)")  #! DW101 early 0.1.0 raises


        def run_executed(x):
            exec("comm.fuse(x, 1, early=True)")  #? text that is executed uses the library


        def run_harmless(x):
            exec("y = 1")


        def run_program():
            code = "import lib.comm; lib.comm.legacy(1)"
            subprocess.run([sys.executable, "-c", code])  #? a program that is given as text names the library
        """,
        runs=False,
    ),
    marked(
        "a_module_that_is_imported_by_a_default_name",
        """
        import importlib

        TOP = "lib"


        def load(name="comm"):
            return importlib.import_module(f"{TOP}.{name}")


        def run(g):
            return load().create(1, 0, group=g)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "a_proxy_of_a_module",
        """
        from proxies import Proxy

        comm = Proxy("lib.comm")


        def run(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_own(x):
            return comm.loaded()
        """,
        proxies="""
        import importlib


        class Proxy:
            def __init__(self, name):
                self._name = name
                self._module = None

            def loaded(self):
                return self._module

            def _load(self):
                if self._module is None:
                    self._module = importlib.import_module(self._name)
                return self._module

            def __getattr__(self, name):
                return getattr(self._load(), name)
        """,
    ),
)
