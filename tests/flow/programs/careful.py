"""Shapes that careful engineers write: objects that say what is in them, methods made of others, kept options."""

from __future__ import annotations

from tests.flow.marked import marked

CAREFUL = (
    marked(
        "object_says_what_is_in_it",
        """
        import inspect

        import lib.comm as comm


        class Names:
            def __init__(self, function):
                self.names = set(inspect.signature(function).parameters)

            def __contains__(self, name):
                return name in self.names


        NAMES = Names(comm.fuse)


        def run(x):
            if "early" in NAMES:
                return comm.fuse(x, 1, early=True)
            return comm.fuse(x, 1, bias=1.0)  #! DW101 bias 0.1.0 raises
        """,
    ),
    marked(
        "partial_of_a_method",
        """
        import functools

        import lib.comm as comm


        class Ops:
            def fuse(self, x, **options):
                return comm.fuse(x, 1, **options)

            early = functools.partialmethod(fuse, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return Ops().early(x)
        """,
    ),
    marked(
        "attributes_by_the_dict_of_an_object",
        """
        import importlib


        class _Module:
            def __init__(self, name):
                self.__dict__["_name"] = name
                self.__dict__["_module"] = None

            def _load(self):
                if self._module is None:
                    self.__dict__["_module"] = importlib.import_module(self._name)
                return self._module

            def __getattr__(self, item):
                return getattr(self._load(), item)


        comm = _Module("lib.comm")


        def run(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "constant_of_a_subclass_in_another_file",
        """
        from ops import Ops


        class Early(Ops):
            early = True


        def run(x):
            return Early().fuse(x)


        def run_plain(x):
            return Ops().fuse(x)
        """,
        ops="""
        import lib.comm as comm


        class Ops:
            early = None

            def options(self):
                return {} if self.early is None else {"early": self.early}

            def fuse(self, x):
                return comm.fuse(x, 1, **self.options())  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "keywords_that_an_object_keeps",
        """
        import lib.comm as comm


        class Op:
            __slots__ = ("action", "options")

            def __init__(self, action, options):
                self.action = action
                self.options = options

            def go(self, *args):
                return self.action(*args, **self.options)  #! DW101 early 0.1.0 raises; DW101 bias 0.1.0 to 0.2.0 raises


        def _make(name, **options):
            action = getattr(comm, name, None)
            return None if action is None else Op(action, options)


        def run(x):
            op = _make("legacy", bias=None)
            return op.go(x) if op is not None else x


        def run_join(x):
            return _make("fuse", early=True).go(x, 1)
        """,
    ),
)
