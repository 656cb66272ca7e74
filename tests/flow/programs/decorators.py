"""Decorators that are classes, of methods and of functions."""

from __future__ import annotations

from tests.flow.marked import marked

DECORATORS = (
    marked(
        "decorators_of_methods",
        """
        import functools
        import logging

        import lib.comm as comm

        log = logging.getLogger()


        def optional(function):
            @functools.wraps(function)
            def wrapper(self, *args, **kwargs):
                try:
                    return function(self, *args, **kwargs)
                except Exception as error:
                    log.warning("%s", error)
                    return None

            return wrapper


        def loud(text):
            def decorate(function):
                def wrapper(*args, **kwargs):
                    try:
                        return function(*args, **kwargs)
                    except Exception as error:
                        raise RuntimeError(text) from error

                return wrapper

            return decorate


        def needs(name):
            def decorate(function):
                if hasattr(comm, name):
                    return function

                def missing(*args, **kwargs):
                    return None

                return missing

            return decorate


        class Service:
            @optional
            def set_up(self, g):
                self.made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@14

            @loud("no")
            def fuse(self, x, **options):
                return comm.fuse(x, 1, early=True, **options)  #! DW101 early 0.1.0 raises

            @property
            @optional
            def legacy(self):
                return comm.legacy(1)  #! DW201 legacy 0.2.0.post1 to 0.10.0 silent@14

            @needs("gather")
            def gather(self, x):
                return comm.gather(x, axis=0)


        @needs("gather")
        def gathered(x):
            return comm.gather(x, axis=0)


        def run(g):
            service = Service()
            service.set_up(g)
            service.gather(g)
            return service.legacy


        def run_fuse(x):
            return Service().fuse(x)


        def run_gathered(x):
            return gathered(x)
        """,
    ),
    marked(
        "decorators_that_are_classes",
        """
        import functools

        import lib.comm as comm


        class Optional:
            def __init__(self, function):
                functools.update_wrapper(self, function)
                self.function = function

            def __call__(self, *args, **kwargs):
                try:
                    return self.function(*args, **kwargs)
                except Exception:
                    return None


        class Retry:
            def __init__(self, times):
                self.times = times

            def __call__(self, function):
                @functools.wraps(function)
                def inner(*args, **kwargs):
                    for _ in range(self.times):
                        try:
                            return function(*args, **kwargs)
                        except Exception as error:
                            last = error
                    raise last

                return inner


        @Optional
        def create(g):
            return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@14


        @Optional
        def gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@14


        @Retry(3)
        def legacy(x):
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run(x):
            return create(x)


        def run_gather(x):
            found = gather(x)
            if found is None:
                raise RuntimeError("too old")
            return found


        def run_legacy(x):
            return legacy(x)
        """,
        runs=False,
    ),
)
