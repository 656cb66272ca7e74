"""Functions of the code base between the caller and the library: pass-through, closures, lambdas, decorators."""

from __future__ import annotations

from tests.flow.marked import marked

WRAPPERS = (
    marked(
        "pass_through_keywords",
        """
        import lib.comm as comm


        def make(**kwargs):
            return comm.create(1, 0, **kwargs)


        def run(g):
            return make(group=g)  #! DW101 group 0.1.0 raises


        def run_without(g):
            return make()
        """,
    ),
    marked(
        "pass_through_in_another_file",
        """
        from wrapper import make


        def run(g):
            return make(rank=0, group=g)  #! DW101 group 0.1.0 raises
        """,
        wrapper="""
        import lib.comm as comm


        def make(*args, **kwargs):
            return comm.create(1, *args, **kwargs)
        """,
    ),
    marked(
        "private_function_is_reached_where_its_callers_are",
        """
        import lib.comm as comm


        def _legacy(x):
            return comm.legacy(x)


        def run(x):
            if hasattr(comm, "legacy"):
                return _legacy(x)
            return x
        """,
    ),
    marked(
        "public_function_is_reached_by_anyone",
        """
        import lib.comm as comm


        def run_legacy(x):
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run(x):
            if hasattr(comm, "legacy"):
                return run_legacy(x)
            return x
        """,
    ),
    marked(
        "library_passed_as_a_parameter",
        """
        import lib.comm as comm


        def _call(function, x):
            return function(x)


        def run(x):
            return _call(comm.fuse, x)
        """.replace("return function(x)", "return function(x)  #! DW102 workspace 0.1.0 to 0.10.0 raises"),
    ),
    marked(
        "closure_and_lambda",
        """
        import lib.comm as comm

        short = lambda x, ws: comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run(x, ws):
            early = True

            def inner():
                return comm.fuse(x, ws, early=early)  #! DW101 early 0.1.0 raises

            return inner()


        def run_short(x, ws):
            return short(x, ws)
        """,
    ),
    marked(
        "decorator_of_the_code_base",
        """
        import functools

        import lib.comm as comm


        def logged(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)

            return wrapper


        @logged
        def run(x, ws):
            return comm.fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "recursion_ends",
        """
        import lib.comm as comm


        def run(x, ws):
            return _down(x, ws, 3)


        def _down(x, ws, left):
            if left:
                return _down(x, ws, left - 1)
            return _across(x, ws, left)


        def _across(x, ws, left):
            if left:
                return _down(x, ws, left)
            return comm.fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "files_that_import_each_other",
        """
        import other


        def fused(x, ws):
            return other.call(x, ws)


        def run(x, ws):
            return fused(x, ws)
        """,
        other="""
        import lib.comm as comm


        def call(x, ws):
            import main

            assert main.fused
            return comm.fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "function_given_to_somebody_unknown",
        """
        import lib.comm as comm
        import registry


        def run(x):
            registry.register(comm.fuse)  #? `lib.comm.fuse` is passed to a function that cannot be followed
            return x
        """,
        runs=False,
    ),
    marked(
        "result_of_a_wrapper_is_an_instance",
        """
        import lib.comm as comm


        def _make():
            return comm.create(1, 0)


        def run():
            return _make().close(now=True)
        """.replace("now=True)", "now=True)  #! DW203 close 0.1.0 to 0.2.0 raises; DW101 now 0.2.0.post1 raises"),
    ),
    marked(
        "global_set_lazily_by_a_function",
        """
        _create = None


        def _load():
            global _create
            if _create is None:
                from lib.comm import create

                _create = create


        def run(g):
            _load()
            return _create(1, 0, group=g)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "nonlocal_flag",
        """
        import lib.comm as comm


        def run(x):
            found = False

            def probe():
                nonlocal found
                found = hasattr(comm, "legacy")

            probe()
            if found:
                return comm.legacy(x)
            return x
        """,
    ),
    marked(
        "method_kept_in_a_variable",
        """
        from lib.comm import Ring


        def run():
            ring = Ring(1)
            fits = ring.fits
            return fits(1, 2, strategy=3)  #! DW101 strategy 0.1.0 to 0.2.0.post1 raises
        """,
    ),
    marked(
        "async_wrapper",
        """
        import lib.comm as comm


        async def _make(**kwargs):
            return comm.create(1, 0, **kwargs)


        async def use(g):
            return await _make(group=g)  #! DW101 group 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "table_of_functions",
        """
        import lib.comm as comm

        TABLE = {"fuse": comm.fuse, "create": comm.create}


        def run(x):
            return TABLE["create"](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "two_ways_to_the_same_function",
        """
        import lib.comm as comm


        def _gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_guarded(x):
            return _gather(x) if hasattr(comm, "gather") else x


        def run(x):
            return _gather(x)
        """,
    ),
    marked(
        "passed_through_to_whoever_calls",
        """
        import lib.comm as comm


        def spread(options):
            return comm.create(**options)  #? PASSED spread CALLED


        def all_of(*args, **kwargs):
            return comm.create(*args, **kwargs)  #? PASSED all_of CALLED


        def outer(**kwargs):
            return inner(**kwargs)


        def inner(**kwargs):
            return comm.create(**kwargs)  #? PASSED outer CALLED


        class Layer:
            def call(self, **kwargs):
                return comm.create(**kwargs)  #? PASSED Layer.call CALLED


        def known(**kwargs):
            return comm.create(**kwargs)


        def run():
            return known(world_size=1, rank=2, group=3)  #! DW101 group 0.1.0 raises


        def _kept(**kwargs):
            return comm.create(**kwargs)


        def run_private():
            return _kept(world_size=1, rank=2)
        """.replace("PASSED ", "`lib.comm.create` is called with what is passed to `").replace(
            " CALLED", "`, which nothing here calls"
        ),
        runs=False,
    ),
    marked(
        "decorator_that_takes_what_is_raised",
        """
        import functools

        import lib.comm as comm
        from deco import counted, told


        def safe(fn):
            @functools.wraps(fn)
            def inner(*args, **kwargs):
                try:
                    return fn(*args, **kwargs)
                except Exception:
                    return None

            return inner


        @safe
        def make(group):
            return comm.create(1, 0, group=group)  #! DW101 group 0.1.0 silent@12


        @told
        def tell(x):
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 silent@deco.py:9


        @counted("fuse")
        def fuse(x, workspace, **kwargs):
            return comm.fuse(x, workspace, **kwargs)


        def run(group):
            return make(group)


        def run_fuse(x, workspace):
            return fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_tell(x):
            return tell(x)
        """.replace("silent@deco.py:9", "silent@deco.py:5"),
        deco="""
        def told(fn):
            def inner(*args, **kwargs):
                try:
                    return fn(*args, **kwargs)
                except Exception as error:
                    return str(error)

            return inner


        def counted(name):
            def deco(fn):
                def inner(*args, **kwargs):
                    return fn(*args, **kwargs)

                return inner

            return deco
        """,
    ),
    marked(
        "module_that_looks_up_what_it_is_asked_for",
        """
        from lazy import create, fuse
        import lazy


        def run(x, workspace):
            return fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_attribute():
            return lazy.create(1, 0, group=None), create(1, 0)  #! DW101 group 0.1.0 raises
        """,
        lazy="""
        import importlib

        LAZY = {"fuse": "lib.comm", "create": "lib.comm"}


        def __getattr__(name):
            if name in LAZY:
                module = importlib.import_module(LAZY[name])
                return getattr(module, name)
            raise AttributeError(name)
        """,
    ),
    marked(
        "helpers_that_know_nothing_of_the_library",
        """
        import lib.comm as comm
        from signatures import accepts, required


        def run(x, workspace):
            more = {"early": True} if accepts(comm.fuse, "early") else {}
            if accepts(comm.fuse, "bias"):
                more["bias"] = 1.0
            return comm.fuse(x, workspace, **more)


        def run_required(x, workspace):
            required(comm.fuse, "early")
            comm.fuse(x, workspace, early=True)
            return comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.2.0 raises
        """,
        signatures="""
        import functools
        import inspect


        @functools.lru_cache(maxsize=None)
        def _names(fn):
            try:
                return frozenset(inspect.signature(fn).parameters)
            except (TypeError, ValueError):
                return frozenset()


        def accepts(fn, name):
            return name in _names(fn)


        def required(fn, *names):
            missing = [name for name in names if not accepts(fn, name)]
            if missing:
                raise RuntimeError(missing)
        """,
    ),
)
