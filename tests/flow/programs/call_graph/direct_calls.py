"""What a call gives is called at once."""

from __future__ import annotations

from tests.flow.marked import marked

DIRECT_CALLS = (
    marked(
        "direct_calls_of_a_return",
        """
        import lib.comm as comm


        def _join():
            return comm.fuse


        def run(x):
            return _join()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "direct_calls_twice",
        """
        import lib.comm as comm


        def _outer():
            def inner():
                return comm.create

            return inner


        def run(x):
            _outer()()(1, 0)
            return _outer()()(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "direct_calls_with_parameters",
        """
        import lib.comm as comm


        def _bind(action):
            def inner(x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises

            return inner


        def run(x):
            return _bind(comm.fuse)(x)
        """,
    ),
    marked(
        "direct_calls_imported",
        """
        from makers import maker
        import makers


        def run(x):
            return maker()(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_module(x):
            return makers.joiner()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        makers="""
        import lib.comm as comm


        def maker():
            return comm.create


        def joiner():
            return comm.fuse
        """,
    ),
    marked(
        "direct_calls_of_a_choice",
        """
        import lib.comm as comm


        def run(x):
            return (comm.fuse or comm.create)(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_and(x):
            return (comm.create and comm.fuse)(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_constant(x):
            return (comm.create if True else comm.fuse)(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "direct_calls_of_an_instance",
        """
        import lib.comm as comm


        class Step:
            def __call__(self, action):
                return action


        def run(x):
            return Step()(comm.fuse)(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_of_the_library(x):
            return comm.Ring(1).fits(1, 2, oneshot=x)  #! DW101 oneshot 0.10.0 raises
        """,
    ),
)
