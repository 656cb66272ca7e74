"""What an exception carries to the handler that takes it: arguments, attributes, and its message."""

from __future__ import annotations

from tests.flow.marked import marked

CARRIED_BY_EXCEPTIONS = (
    marked(
        "exception_carries_arguments_and_attributes",
        """
        import lib.comm as comm


        class Found(Exception):
            pass


        class Held(Exception):
            def __init__(self, action, **options):
                super().__init__("held")
                self.action, self.options = action, options


        def _look(*names):
            for name in names:
                if hasattr(comm, name):
                    raise Found(name, getattr(comm, name))


        def _raise():
            raise Held(comm.create, group=1)


        def run(x):
            try:
                _look("nothing", "fuse")
            except Found as found:
                name, action = found.args
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_held():
            try:
                _raise()
            except Held as held:
                return held.action(1, 0, **held.options)  #! DW101 group 0.1.0 raises


        def run_builtin(x):
            try:
                raise LookupError("which", comm.fuse)
            except LookupError as error:
                return error.args[1](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "exception_of_two_is_the_one_that_was_raised",
        """
        import lib.comm as comm


        class Found(Exception):
            def __init__(self, action):
                self.action = action


        def _raise(make):
            if make:
                raise Found(comm.create)
            raise Found(comm.fuse)


        def run_make(x):
            try:
                _raise(True)
            except Found as found:
                return found.action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_join(x):
            try:
                _raise(False)
            except Found as found:
                return found.action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "exception_is_raised_again_with_what_it_carries",
        """
        import lib.comm as comm


        class Found(Exception):
            def __init__(self, action):
                self.action = action


        def _inner():
            try:
                raise Found(comm.fuse)
            finally:
                comm.create(1, 0)


        def _outer():
            try:
                _inner()
            except Found as found:
                found.early = True
                raise


        def run(x):
            try:
                _outer()
            except Found as found:
                return found.action(x, 1, early=found.early)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "exception_of_the_code_base_is_told_by_its_message",
        """
        import lib.comm as comm


        class Refused(RuntimeError):
            pass


        def run(x):
            try:
                raise Refused("early")
            except Refused as refused:
                if str(refused) == "early":
                    return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
                return comm.create(1, 0, group=x)
        """,
    ),
    marked(
        "exception_takes_a_function_out_of_sight",
        """
        import lib.comm as comm


        def run(x, queue):
            try:
                raise LookupError(comm.fuse)
            except LookupError as error:
                queue(error)  #? `lib.comm.fuse` is passed to a function that cannot be followed
        """,
        runs=False,
    ),
)
