"""A function is an argument, and is called under the name of the parameter."""

from __future__ import annotations

from tests.flow.marked import marked

ARGS = (
    marked(
        "args_call",
        """
        import lib.comm as comm


        def apply(action, x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return apply(comm.fuse, x)
        """,
    ),
    marked(
        "args_assigned_before_the_call",
        """
        import lib.comm as comm


        def apply(action, x):
            chosen = action
            return chosen(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            given = comm.create
            return apply(given, x)
        """,
    ),
    marked(
        "args_passed_on_twice",
        """
        import lib.comm as comm


        def inner(action, x):
            return action(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def middle(action, x):
            return inner(x=x, action=action)


        def outer(action, x):
            return middle(action, x)


        def run(x):
            return outer(comm.fuse, x)
        """,
    ),
    marked(
        "args_imported_and_called",
        """
        from helpers import apply, apply_later
        from lib.comm import create, fuse


        def run(x):
            return apply(fuse, x)


        def run_later(x):
            later = apply_later
            return later(create, x)
        """,
        helpers="""
        def apply(action, x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def apply_later(action, x):
            kept = action
            return kept(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "args_call_of_what_a_call_gave",
        """
        import lib.comm as comm


        def pick(first, second):
            return second


        def apply(action, x):
            return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return apply(pick(comm.create, comm.fuse), x)
        """,
    ),
    marked(
        "args_two_callers_are_told_apart",
        """
        import lib.comm as comm


        def apply(action, *given, **named):
            return action(*given, **named)


        def run(x):
            apply(comm.create, 1, 0)
            apply(comm.fuse, x, 1, output=x)
            return apply(comm.fuse, x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_group(x):
            return apply(comm.create, 1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "args_default_value",
        """
        import lib.comm as comm


        def apply(x, action=comm.fuse):
            return action(x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def apply_named(x, *, make=comm.create):
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run(x):
            return apply(x)


        def run_named(x):
            return apply_named(x)
        """,
    ),
    marked(
        "args_of_a_tuple",
        """
        import lib.comm as comm


        def apply(*actions):
            first, second = actions
            first(1, 0)
            return second(actions, 1, early=True)  #! DW101 early 0.1.0 raises


        def run():
            return apply(comm.create, comm.fuse)
        """,
    ),
)
