"""Where something of the library gets out of sight: that is said there, and nowhere else."""

from __future__ import annotations

from tests.flow.marked import marked

SIGHT = (
    marked(
        "what_only_looks_loses_nothing",
        """
        import logging
        import sys
        import lib.comm as comm

        logger = logging.getLogger(__name__)


        def run(x):
            print(comm.fuse, id(comm), repr(comm.Workspace), isinstance(comm.fuse, str), file=sys.stderr)
            logger.info("%s", comm)
            logging.warning("%s", comm.fuse)
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "a_queue_is_not_looked_into",
        """
        import queue
        import lib.comm as comm


        def run(x):
            waiting = queue.Queue()
            waiting.put(comm.fuse)  #? `lib.comm.fuse` is passed to a function that cannot be followed
            return waiting.get()(x, 1, early=True)
        """,
        runs=False,
    ),
    marked(
        "an_instance_a_class_a_module_and_a_method_get_out_of_sight",
        """
        import queue
        import lib.comm as comm

        WAITING = queue.Queue()


        def run(x):
            made = comm.Workspace(x)
            WAITING.put(made)  #? an instance of `lib.comm.Workspace` is passed to a function that cannot be followed
            WAITING.put(comm.Workspace)  #? `lib.comm.Workspace` is passed to a function that cannot be followed
            WAITING.put(comm)  #? `lib.comm` is passed to a function that cannot be followed
            WAITING.put(made.fits)  #? `lib.comm.Workspace.fits` is passed to a function that cannot be followed
            WAITING.put([made])  #? an instance of `lib.comm.Workspace` is passed to a function that cannot be followed
        """,
    ),
    marked(
        "what_a_function_gives_back_is_what_it_was_given",
        """
        import lib.comm as comm


        def same(x):
            return x


        def paired(x, y):
            return (x, y)


        def run(x):
            return same(comm.fuse)(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_pair(x):
            return paired(x, comm.create)[1](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "a_container_that_somebody_else_may_fill",
        """
        import operator
        import lib.comm as comm


        def run(x):
            options = {}
            operator.setitem(options, "rank", 0)
            return comm.create(1, **options)  #? `lib.comm.create` is called with `**` of unknown content


        def run_list(x):
            parts = [x]
            operator.iconcat(parts, [1])
            return comm.fuse(*parts)  #? `lib.comm.fuse` is called with `*` of unknown content
        """,
    ),
    marked(
        "parts_of_a_partial",
        """
        import functools
        import lib.comm as comm


        def run(x):
            prepared = functools.partial(comm.fuse, x, early=True)
            return prepared.func(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_call(x):
            return comm.fuse.__call__(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "kept_in_an_object_that_is_not_known",
        """
        import types
        import lib.comm as comm


        def run(x):
            holder = types.ModuleType("holder")
            holder.fuse = comm.fuse  #? `lib.comm.fuse` is kept in an attribute of an object that is not known
            return vars(holder)["fuse"](x, 1, early=True)
        """,
        runs=False,
    ),
    marked(
        "kept_in_an_attribute_of_a_function",
        """
        import lib.comm as comm


        def holder():
            return holder.fuse


        holder.fuse = comm.fuse


        def run(x):
            def inner():
                return comm.create(x, 0)

            inner.fuse = comm.fuse
            inner()
            return inner.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_holder(x):
            return holder()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "a_key_of_a_dict",
        """
        import lib.comm as comm


        def run(x):
            for action, _ in {(comm.fuse, x): 1}:  #? `lib.comm.fuse` is a key of a dict
                action(x, 1, early=True)
        """,
        runs=False,
    ),
    marked(
        "taken_apart_by_a_pattern",
        """
        import lib.comm as comm


        def run(x):
            match {"call": comm.fuse}:
                case {"call": call}:
                    return call(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "wrapper_that_knows_nothing_of_the_library",
        """
        import lib.comm as comm


        class Timed:
            def __init__(self, function):
                self.function = function
                self.calls = 0

            def __call__(self, *args, **kwargs):
                self.calls += 1
                return self.function(*args, **kwargs)


        def _gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        gather = Timed(_gather)


        def run_gather(x):
            return gather(x)
        """,
    ),
)
