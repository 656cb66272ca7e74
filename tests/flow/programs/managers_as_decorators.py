"""Context managers that decorate functions: each call is executed within them."""

from __future__ import annotations

from tests.flow.marked import marked

MANAGERS_AS_DECORATORS = (
    marked(
        "managers_that_decorate_functions",
        """
        import contextlib

        import lib.comm as comm


        class _Quiet(contextlib.ContextDecorator):
            def __enter__(self):
                return self

            def __exit__(self, kind, error, trace):
                return True


        class _Loud(contextlib.ContextDecorator):
            def __enter__(self):
                return self

            def __exit__(self, kind, error, trace):
                return False


        @contextlib.contextmanager
        def _guarded():
            try:
                yield
            except Exception:
                pass


        @contextlib.contextmanager
        def _checked():
            assert hasattr(comm, "gather")
            yield


        @_Quiet()
        def run_quiet():
            return comm.gather(1, axis=0)  #! DW201 gather 0.1.0 silent@10


        @_Loud()
        def run_loud():
            return comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises


        @_guarded()
        def run_guarded():
            return comm.gather(1, axis=0)  #! DW201 gather 0.1.0 silent@26


        @_Loud()
        @_guarded()
        def run_within_both():
            return comm.level(1, eager=True)  #! DW101 eager 0.1.0 to 0.2.0.post1 silent@26


        @_checked()
        def run_checked():
            return comm.gather(1, axis=0)
        """,
    ),
)
