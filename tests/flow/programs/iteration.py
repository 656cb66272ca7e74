"""What generators and iterators give to whoever goes through them."""

from __future__ import annotations

from tests.flow.marked import marked

ITERATION = (
    marked(
        "goes_through_spread_gen",
        """
        import lib.comm as comm


        def _args(x):
            yield x
            yield 1
            yield None
            yield False


        def run(x):
            return comm.fuse(*_args(x))  #! DW103 fuse 0.1.0 to 0.2.0 raises; DW104 early 0.1.0 to 0.2.0
        """,
    ),
    marked(
        "goes_through_comp_of_gen",
        """
        import lib.comm as comm


        def _names():
            for name in ("early", "bias"):
                if name != "bias":
                    yield name


        def run(x):
            return comm.fuse(x, 1, **{name: True for name in _names()})  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_list_of_gen",
        """
        import lib.comm as comm


        def _ops():
            yield comm.fuse, {"early": True}
            yield comm.create, {"group": 1}


        def run(x):
            for op, kw in list(_ops()):
                op(1, 2, **kw)  #! DW101 early 0.1.0 raises; DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_next_gen",
        """
        import lib.comm as comm


        def _found(names):
            for name in names:
                fn = getattr(comm, name, None)
                if fn is not None:
                    yield fn


        def run(x):
            fn = next(_found(["nothing", "gather", "legacy"]), None)
            if fn is None:
                return None
            return fn(x, axis=0)  #! DW101 axis 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_nextgenexp",
        """
        import lib.comm as comm

        FN = next((getattr(comm, n) for n in ("gather", "legacy") if hasattr(comm, n)), None)


        def run(x):
            return FN(x, 1)  #! DW102 axis 0.10.0 raises; DW103 legacy 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_method_gen",
        """
        import lib.comm as comm


        class Plan:
            def __init__(self, group):
                self.group = group

            def items(self):
                yield "world_size", 2
                yield "rank", 0
                if self.group:
                    yield "group", self.group

            def make(self):
                return comm.create(**dict(self.items()))  #! DW101 group 0.1.0 raises


        def run(x):
            return Plan(x).make()
        """,
    ),
    marked(
        "goes_through_async_gen",
        """
        import asyncio
        import lib.comm as comm


        async def _ops():
            yield comm.fuse
            yield comm.create


        async def _makes():
            yield comm.create


        async def _all(x):
            async for op in _ops():
                op(x, 1, early=True)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 to 0.2.0.post1 raises


        async def _listed(x):
            return [op(1, 1, group=x) async for op in _makes()]  #! DW101 group 0.1.0 raises


        def run(x):
            return asyncio.run(_all(x))


        def run_listed(x):
            return asyncio.run(_listed(x))
        """,
    ),
    marked(
        "goes_through_infinite",
        """
        import lib.comm as comm


        def _forever():
            while True:
                yield comm.fuse


        def run(x):
            for op in _forever():
                return op(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_zip(x):
            return [op(each, 1, bias=2) for op, each in zip(_forever(), [x])]  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "goes_through_early_return",
        """
        import lib.comm as comm


        def _ops(new):
            if hasattr(comm, "gather"):
                yield comm.gather
                return
            yield comm.legacy


        def run(x):
            for op in _ops(True):
                op(x, axis=1)  #! DW101 axis 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_elsewhere",
        """
        from ops import ops, pairs
        import lib.comm as comm


        def run(x):
            for op in ops():
                op(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_pairs(x):
            return comm.create(1, 2, **dict(pairs(x)))  #! DW101 group 0.1.0 raises
        """,
        ops="""
        import lib.comm as comm


        def ops():
            yield comm.fuse


        def pairs(group):
            if group is not None:
                yield ("group", group)
        """,
    ),
    marked(
        "goes_through_elsewhere_plain",
        """
        from opts import pairs
        import lib.comm as comm


        def run_pairs(x):
            return comm.create(1, 2, **dict(pairs(x)))  #! DW101 group 0.1.0 raises
        """,
        opts="""
        def pairs(group):
            if group is not None:
                yield ("group", group)
        """,
    ),
    marked(
        "goes_through_filter_reduce",
        """
        import functools
        import lib.comm as comm


        def run(x):
            kept = dict(filter(lambda pair: pair[1] is not None, {"group": x, "extra": None}.items()))
            return comm.create(1, 2, **kept)  #! DW101 group 0.1.0 raises


        def run_merge(x):
            opts = functools.reduce(lambda a, b: {**a, **b}, [{}, {"group": x}])
            return comm.create(1, 2, **opts)  #! DW101 group 0.1.0 raises


        def run_compose(x):
            return functools.reduce(lambda acc, fn: fn(acc, 1, early=True), [comm.fuse], x)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_enumerate_zip",
        """
        import lib.comm as comm


        def run(x):
            for i, (name, op) in enumerate(zip(("a", "b"), (comm.fuse, comm.create)), start=1):
                op(1, 2, early=i)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 to 0.2.0.post1 raises


        def run_unknown(x):
            for name, op in zip(iter(str(x)), [comm.fuse]):
                op(name, 1, bias=1)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "goes_through_cm_yields",
        """
        import contextlib
        import lib.comm as comm


        @contextlib.contextmanager
        def _op(name):
            op = getattr(comm, name)
            yield op


        def run(x):
            with _op("fuse") as op:
                op(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_sentinel",
        """
        import lib.comm as comm


        def run(x):
            parts = iter([comm.fuse, comm.create])
            first = next(parts)
            second = next(parts)
            first(x, 1, early=True)  #! DW101 early 0.1.0 raises
            return second(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "goes_through_gen_expr_arg",
        """
        import lib.comm as comm


        def _each(ops, x):
            return [op(x, 1, early=True) for op in ops]  #! DW101 early 0.1.0 raises


        def run(x):
            return _each((getattr(comm, n) for n in ("fuse",)), x)
        """,
    ),
    marked(
        "goes_through_walk_items",
        """
        import lib.comm as comm


        class Options:
            def __init__(self, group):
                self.group = group

            def __iter__(self):
                yield "group", self.group


        def run(x):
            return comm.create(1, 2, **dict(Options(x)))  #! DW101 group 0.1.0 raises


        def run_star(x):
            return comm.create(*[1, 2], **{k: v for k, v in Options(x)})  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "a_function_that_is_given_away_is_called_with_other_keywords_each_time",
        """
        import lib.comm as comm


        def run_lambda(x):
            return [*map(lambda kw: comm.fuse(x, 1, **kw), [{}, {"early": True}])]  #! DW101 early 0.1.0 raises


        def run_function(x):
            def fuse(options):
                return comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises

            for _ in map(fuse, ({}, {"early": True})):
                pass
        """,
    ),
)
