"""Files that do not mention the library: another names it for them, in a text."""

from __future__ import annotations

from tests.flow.marked import marked

NAMED_ELSEWHERE = (
    marked(
        "module_name_in_a_constant_of_another_file",
        """
        import importlib

        from names import LIBRARY

        library = importlib.import_module(LIBRARY)


        def run():
            return library.fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        names="""
        LIBRARY = "lib.comm"
        """,
    ),
    marked(
        "module_name_in_a_class_and_a_table_of_another_file",
        """
        import importlib

        from names import MODULES, Settings


        def run():
            return importlib.import_module(Settings.library).fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_table():
            return importlib.import_module(MODULES["fast"]).fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        names="""
        class Settings:
            library = "lib.comm"


        MODULES = {"fast": "lib.comm"}
        """,
    ),
    marked(
        "object_that_imports_what_it_was_made_with",
        """
        from optional import fast


        def run():
            if fast.has("fuse"):
                return fast.module.fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises
            return None
        """,
        optional="""
        import importlib
        import importlib.util


        class Optional:
            def __init__(self, name):
                self.name = name
                self.available = importlib.util.find_spec(name) is not None

            @property
            def module(self):
                return importlib.import_module(self.name)

            def has(self, attribute):
                return self.available and hasattr(self.module, attribute)


        fast = Optional("lib.comm")
        """,
    ),
    marked(
        "package_name_of_an_object_that_imports_it",
        """
        from lazy import package


        def run():
            return package.comm.fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        lazy="""
        import importlib

        import lib.comm


        class Lazy:
            def __init__(self, name):
                self._name = name

            def __getattr__(self, attribute):
                return getattr(importlib.import_module(self._name), attribute)


        package = Lazy("lib")
        """,
    ),
    marked(
        "module_name_as_the_default_of_a_helper",
        """
        from loading import Loader, load


        def run():
            return load().fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_loader():
            return Loader().get().fuse(None, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        loading="""
        import importlib


        def load(name="lib.comm"):
            return importlib.import_module(name)


        class Loader:
            def __init__(self, name="lib.comm"):
                self.name = name

            def get(self):
                return importlib.import_module(self.name)
        """,
    ),
    marked(
        "name_that_is_put_into_a_text",
        """
        import importlib


        def load(name):
            return importlib.import_module(f"lib.{name}")


        def load_old(name):
            return importlib.import_module("lib.%s" % name)


        class Modules:
            def __getitem__(self, name):
                return importlib.import_module(f"lib.{name}")


        modules = Modules()


        def run_call(x):
            load("comm").gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_old(x):
            load_old("comm").gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_item(x):
            modules["comm"].gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
)
