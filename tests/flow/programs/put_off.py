"""Calls that are written in one file and made in another: managers, coroutines and futures that travel."""

from __future__ import annotations

from tests.flow.marked import marked

PUT_OFF = (
    marked(
        "manager_made_in_another_file",
        """
        from made import held


        def run(x):
            with held(x, early=1) as got:  #! DW101 early 0.1.0 raises
                return got
        """,
        made="""
        import contextlib

        import lib.comm as comm


        @contextlib.contextmanager
        def _held(x, **kwargs):
            yield comm.fuse(x, 1, **kwargs)


        def held(x, **kwargs):
            return _held(x, **kwargs) if x else contextlib.nullcontext()
        """,
    ),
    marked(
        "coroutine_made_in_another_file",
        """
        import asyncio

        from made import make


        async def _wait(x):
            return await make(x, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            asyncio.run(make(x, bias=1))  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_later(x):
            asyncio.run(_wait(x))
        """,
        made="""
        import lib.comm as comm


        async def _later(x, **kwargs):
            return comm.fuse(x, 1, **kwargs)


        def make(x, **kwargs):
            return _later(x, **kwargs)
        """,
    ),
    marked(
        "future_made_in_another_file",
        """
        from made import _submitted


        def run(pool):
            future = _submitted(1)
            return future.result()
        """,
        runs=False,
        made="""
        import concurrent.futures

        import lib.comm as comm

        POOL = concurrent.futures.ThreadPoolExecutor(1)


        def _submitted(x):
            return POOL.submit(comm.fuse, x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "each_turn_of_a_loop_puts_off_a_call_of_its_own",
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        import lib.comm as comm


        async def _one(options):
            return comm.create(1, 2, **options)  #! DW101 group 0.1.0 raises


        async def _all():
            return await asyncio.gather(*(_one(options) for options in ({}, {"group": None})))


        def run_gathered():
            return asyncio.run(_all())


        def run_submitted():
            with ThreadPoolExecutor() as pool:
                several = ({}, {"early": True})
                calls = [pool.submit(comm.fuse, 1, 2, **each) for each in several]  #! DW101 early 0.1.0 raises
                return [call.result() for call in calls]


        def run_submitted_first():
            with ThreadPoolExecutor() as pool:
                several = ({"early": True}, {})
                calls = [pool.submit(comm.fuse, 1, 2, **each) for each in several]  #! DW101 early 0.1.0 raises
                return [call.result() for call in calls]
        """,
        runs=False,
    ),
)
