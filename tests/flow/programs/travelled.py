"""Flags, keywords and functions that have come a long way before they meet the library."""

from __future__ import annotations

from tests.flow.marked import marked

TRAVELLED = (
    marked(
        "function_that_a_decorator_puts_into_a_table",
        """
        import lib.comm as comm

        _TABLE = {}


        def _register(name):
            def decorator(function):
                _TABLE[name] = function
                return function

            return decorator


        @_register("a")
        def _entry():
            return comm.fuse(None, 1, early=True)  #! DW101 early 0.1.0 silent@22


        def run():
            try:
                return _TABLE["a"]()
            except Exception:
                return None
        """,
    ),
    marked(
        "function_that_a_guarded_caller_takes_out_of_a_table",
        """
        import lib.comm as comm
        from features import EARLY

        _TABLE = {}


        def _register(name):
            def decorator(function):
                _TABLE[name] = function
                return function

            return decorator


        @_register("a")
        def _entry():
            return comm.fuse(None, 1, early=True)


        def run():
            if EARLY:
                return _TABLE["a"]()
        """,
        features="""
        import inspect

        import lib.comm as comm

        EARLY = "early" in inspect.signature(comm.fuse).parameters
        """,
    ),
    marked(
        "flags_by_name",
        """
        import lib.comm as comm

        _FLAGS = {
            "gather": hasattr(comm, "gather"),
            "legacy": hasattr(comm, "legacy"),
        }


        def has(name):
            return _FLAGS.get(name, False)


        def has_surely(name):
            return _FLAGS[name]


        def run():
            if has("gather"):
                comm.gather(1, axis=0)
            if has("legacy"):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
            if has_surely("gather"):
                comm.gather(1, axis=0)


        def run_unknown(name):
            if has(name):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
    ),
    marked(
        "flags_in_a_list",
        """
        import lib.comm as comm

        _FLAGS = [hasattr(comm, "gather"), hasattr(comm, "legacy")]


        def _has(number):
            return _FLAGS[number]


        def run():
            if _has(0):
                comm.gather(1, axis=0)


        def ask(number):
            if _FLAGS[number]:
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
    ),
    marked(
        "version_that_another_file_takes_apart",
        """
        import lib.comm as comm
        from versions import at_least


        def run():
            if at_least(0, 2):
                comm.gather(1, axis=0)


        def run_wrong():
            if at_least(0, 1):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        versions="""
        from importlib.metadata import version


        def _parse(text):
            return tuple(int(part) for part in text.split(".")[:2])


        _INSTALLED = _parse(version("lib-dist"))


        def at_least(*wanted):
            return _INSTALLED >= wanted
        """,
    ),
    marked(
        "options_of_an_object_that_was_given_none",
        """
        import lib.comm as comm


        class Spec:
            def __init__(self, **options):
                self.options = options


        def run():
            mine, other = Spec(), Spec(nope=1)
            if hasattr(comm, "legacy"):
                return comm.legacy(**mine.options)  #! DW102 x 0.1.0 to 0.2.0 raises
        """,
    ),
)
