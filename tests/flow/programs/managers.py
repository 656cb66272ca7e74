"""Context managers of the code base: what they give, and what they take."""

from __future__ import annotations

from tests.flow.marked import marked

MANAGERS = (
    marked(
        "what_a_manager_yields",
        """
        from contextlib import contextmanager

        import lib.comm as comm


        @contextmanager
        def workspace(**kwargs):
            made = comm.create(1, **kwargs)
            try:
                yield made
            finally:
                str(made)


        def run():
            with workspace(rank=0, group=None) as made:  #! DW101 group 0.1.0 raises
                return made.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_right():
            with workspace(rank=0) as made:
                return made.fits(1, 2)
        """,
    ),
    marked(
        "what_a_manager_takes",
        """
        from contextlib import contextmanager

        import lib.comm as comm


        @contextmanager
        def quiet():
            try:
                yield
            except Exception:
                return


        @contextmanager
        def loud():
            try:
                yield
            except Exception as error:
                str(error)
                raise


        def run(x, workspace):
            with quiet():
                comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 silent@10
            return comm.fuse(x, workspace, early=True)  #! DW101 early 0.1.0 raises


        def run_loud(x, workspace):
            with loud():
                return comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,  # the harness takes a handler with nothing but `yield` to be meant for what it takes
    ),
    marked(
        "what_enter_returns",
        """
        import lib.comm as comm


        class Session:
            def __init__(self, size):
                self.made = comm.Ring(size)

            def __enter__(self):
                return self.made

            def __exit__(self, *error):
                return None


        def run():
            with Session(1) as made:
                return made.checkpoint()  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW102 path 0.2.0.post1 raises
        """,
    ),
)
