"""Import statements of every form, what they are guarded by, and what follows from one that fails."""

from __future__ import annotations

from tests.flow.marked import marked

IMPORTS = (
    marked(
        "more_of_a_module_matters_once_what_it_imports_is_known",
        """
        import lib
        import lib.comm as comm
        from packaging.version import Version
        import helpers

        FLAG = Version(lib.__version__) < Version("0.1.0")


        def run(x):
            if FLAG:
                return comm.fuse(x, 1, early=True)
            return comm.fuse(x, 1)


        def run_other(x):
            return helpers.go(x)
        """,
        helpers__init="from .use import *",
        helpers__use="""
        def go(x):
            from lib.comm import gather  #! DW201 gather 0.1.0 raises
            return gather(x, axis=0)
        """,
    ),
    marked(
        "module_alias",
        """
        import lib.comm as comm


        def run(x, ws):
            comm.fuse(x, ws)
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "from_package",
        """
        from lib import comm


        def run(x):
            return comm.gather(x, 0)  #! DW201 gather 0.1.0 raises; DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "dotted_without_alias",
        """
        import lib.comm


        def run(x):
            return lib.comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "name_that_is_gone",
        """
        from lib.comm import fuse, legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "module_that_is_not_there_yet",
        """
        import lib.comm.extra  #! DW202 extra 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "name_of_a_module_that_is_not_there_yet",
        """
        from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 raises


        def run(a, b):
            return deep(a=a, b=b)  #! DW101 a 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "guarded_by_import_error_and_a_flag",
        """
        try:
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@4

            HAS = True
        except ImportError:
            HAS = False


        def run(x):
            if HAS:
                return legacy(x)
            return x
        """.replace("guarded@4", "guarded@5"),
    ),
    marked(
        "guarded_and_none",
        """
        try:
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@3
        except ImportError:
            legacy = None


        def run(x):
            if legacy is not None:
                return legacy(x, 1)  #! DW103 legacy 0.1.0 to 0.2.0 raises
            return x
        """,
    ),
    marked(
        "imported_in_the_else_branch",
        """
        try:
            import lib.comm.extra  #! DW202 extra 0.1.0 to 0.2.0 guarded@3
        except ModuleNotFoundError:
            HAS = False
        else:
            HAS = True
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "module_global_set_from_a_guarded_import",
        """
        _comm = None
        try:
            import lib.comm as comm

            _comm = comm
        except ImportError:
            pass


        def run(x, ws):
            if _comm is None:
                return None
            return _comm.fuse(x, ws, early=False)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "import_inside_a_function",
        """
        def run(x):
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises

            return legacy(x)
        """,
    ),
    marked(
        "type_checking_imports_are_no_imports",
        """
        from __future__ import annotations

        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from lib.comm import legacy


        def run(x):
            return x
        """,
    ),
    marked(
        "import_module",
        """
        import importlib


        def run(x, ws):
            comm = importlib.import_module("lib.comm")
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "import_module_of_a_submodule_in_a_try",
        """
        import importlib

        try:
            extra = importlib.import_module("lib.comm.extra")  #! DW202 extra 0.1.0 to 0.2.0 guarded@5
        except ImportError:
            extra = None


        def run(x):
            if extra:
                return extra.deep(x, b=1, c=2)  #! DW101 c 0.2.0.post1 raises
            return x
        """,
    ),
    marked(
        "find_spec_guards",
        """
        import importlib.util


        def run(x):
            if importlib.util.find_spec("lib.comm.extra") is not None:
                from lib.comm.extra import deep

                return deep(x, 1)
            return x
        """,
    ),
    marked(
        "suppressed",
        """
        import contextlib

        legacy = None
        with contextlib.suppress(ImportError):
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@4


        def run(x):
            return legacy(x) if legacy else x
        """,
    ),
    marked(
        "star_import",
        """
        from lib.comm import *


        def run(x, ws):
            return fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "importorskip",
        """
        import pytest

        extra = pytest.importorskip("lib.comm.extra")


        def test_deep():
            assert extra.deep(1, 2, 3)  #! DW103 deep 0.2.0.post1 raises
        """,
        runs=False,
    ),
    marked(
        "reexported_by_a_package",
        """
        from mine import fuse


        def run(x, ws):
            return fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
        mine__init="""
        from mine.api import fuse
        """,
        mine__api="""
        from lib.comm import fuse
        """,
    ),
    marked(
        "flag_of_another_file",
        """
        from probe import HAS_LEGACY


        def run(x):
            from lib.comm import legacy

            return x


        def run_guarded(x):
            if not HAS_LEGACY:
                return x
            from lib.comm import legacy

            return legacy(x)
        """.replace(
            "import legacy\n\n            return x",
            "import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises\n\n            return x",
        ),
        probe="""
        import lib.comm as comm

        HAS_LEGACY = hasattr(comm, "legacy")
        """,
    ),
    marked(
        "helper_of_another_file",
        """
        from available import has_extra

        if has_extra():
            from lib.comm.extra import deep


        def run(a):
            return deep(a, 1, 2) if has_extra() else a  #! DW103 deep 0.2.0.post1 raises
        """,
        available="""
        import functools
        import importlib.util


        @functools.cache
        def has_extra():
            return importlib.util.find_spec("lib.comm.extra") is not None
        """,
    ),
    marked(
        "names_in_strings_for_a_lazy_helper",
        """
        from lazy import lazy_import

        fuse = lazy_import("lib.comm", "fuse")


        def run(x, ws):
            return fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
        lazy="""
        import importlib


        def lazy_import(module, name):
            return getattr(importlib.import_module(module), name)
        """,
    ),
    marked(
        "same_name_from_two_places",
        """
        try:
            from lib.comm import gather as op  #! DW201 gather 0.1.0 guarded@3
        except ImportError:
            from lib.comm import legacy as op


        def run(x):
            return op(x, 0)  #! DW103 legacy 0.1.0 raises; DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "relative_package_that_wraps_the_library",
        """
        from mine import api


        def run(g):
            return api.make(group=g)  #! DW101 group 0.1.0 raises
        """,
        runs=False,
        mine__init="",
        mine__api="""
        from .low import make
        """,
        mine__low="""
        from lib.comm import create


        def make(**kwargs):
            return create(1, 0, **kwargs)
        """,
    ),
    marked(
        "class_of_another_file",
        """
        from layer import Layer


        class Derived(Layer):
            def forward(self, x):
                return self.op(x, 0)  #! DW102 axis 0.10.0 raises


        def run(x):
            layer = Derived()
            return layer.forward(x) if layer.op is not None else x
        """,
        layer="""
        import lib.comm as comm


        class Layer:
            def __init__(self):
                self.op = getattr(comm, "gather", None)
        """,
    ),
    marked(
        "placeholder_class",
        """
        try:
            from lib.comm import Plan  #! DW201 Plan 0.1.0 guarded@3
        except ImportError:

            class Plan:
                def __init__(self, *args, **kwargs):
                    pass


        def run():
            return Plan(1, size=2)  #! DW101 size 0.2.0 raises; DW104 size 0.2.0.post1; DW104 size 0.10.0 raises
        """,
    ),
    marked(
        "importorskip_with_a_version",
        """
        import pytest


        def run_old():
            lib = pytest.importorskip("lib", minversion="0.2.0")
            return lib.comm.gather(1, axis=0)


        def run_any():
            lib = pytest.importorskip("lib")
            return lib.comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises


        def run_part():
            extra = pytest.importorskip("lib.comm.extra")
            return extra.deep(1, 2, c=3)  #! DW101 c 0.2.0.post1 raises
        """,
    ),
)
