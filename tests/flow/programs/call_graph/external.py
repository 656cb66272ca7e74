"""Calls that leave the code base: library classes, their methods, and other libraries that call back."""

from __future__ import annotations

from tests.flow.marked import marked

EXTERNAL = (
    marked(
        "external_function_and_attribute",
        """
        import lib.comm
        import lib.comm as comm
        from lib import comm as other


        def run(x):
            return lib.comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_alias(x):
            action = other.create
            return action(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_same(x):
            assert other is comm
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "external_class_and_its_methods",
        """
        import lib.comm as comm


        def run(x):
            ring = comm.Ring(1)
            fits = ring.fits
            fits(1, 2)
            return fits(1, 2, oneshot=x)  #! DW101 oneshot 0.10.0 raises


        def run_unbound(x):
            return comm.Ring.fits(comm.Ring(1), 1, 2, strategy=x)  #! DW101 strategy 0.1.0 to 0.2.0.post1 raises


        def run_inherited():
            return comm.Ring(1).close()  #! DW203 close 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "external_base_class",
        """
        import lib.comm as comm


        class Mine(comm.Ring):
            def go(self, x):
                return self.fits(1, 2, oneshot=x)  #! DW101 oneshot 0.10.0 raises

            def stop(self):
                return super().close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run(x):
            return Mine(1).go(x)


        def run_stop():
            return Mine(1).stop()
        """,
    ),
    marked(
        "external_what_a_factory_gives",
        """
        import lib.comm as comm


        def _made():
            return comm.create(1, 0)


        def run():
            return _made().close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_assigned():
            made = _made()
            made.fits(1, 2)
            return made.fits(1)  #! DW102 hidden 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "external_partial",
        """
        from functools import partial, reduce
        import lib.comm as comm


        def run(x):
            bound = partial(comm.fuse, x, early=True)  #! DW101 early 0.1.0 raises
            return bound(1)


        def run_method(x):
            return partial(comm.Ring(1).fits, 1, 2, oneshot=x)()  #! DW101 oneshot 0.10.0 raises


        def run_reduce(x):
            return reduce(lambda made, part: comm.create(1, 0, group=part), [x], x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "external_attrgetter",
        """
        import operator
        import lib.comm as comm


        def run(x):
            return operator.attrgetter("fuse")(comm)(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_methodcaller(x):
            return operator.methodcaller("create", 1, 0, x)(comm)  #! DW103 create 0.1.0, 0.10.0 raises
        """,
    ),
    marked(
        "external_cached",
        """
        import functools
        import lib.comm as comm


        @functools.lru_cache(maxsize=None)
        def _action():
            return comm.fuse


        def run(x):
            return _action()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "external_wraps",
        """
        import functools
        import lib.comm as comm


        def run_wrapped(x):
            return functools.wraps(comm.create)(comm.create)(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "external_context_manager",
        """
        import contextlib
        import lib.comm as comm


        @contextlib.contextmanager
        def _lent(action):
            yield action


        def run(x):
            with contextlib.nullcontext(comm.create) as make:
                return make(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_own(x):
            with _lent(comm.fuse) as action:
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
)
