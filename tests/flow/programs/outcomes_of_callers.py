"""What becomes of an exception in those who call."""

from __future__ import annotations

from tests.flow.marked import marked

OUTCOMES_OF_CALLERS = (
    marked(
        "a_caller_hides_what_a_public_function_raises",
        """
        import lib.comm as comm


        def reduce(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 silent@11


        def run(x):
            try:
                return reduce(x)
            except Exception:
                return None
        """,
    ),
    marked(
        "one_of_its_callers_does",
        """
        import lib.comm as comm


        def gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises; DW201 gather 0.1.0 silent@15


        def run_openly(x):
            return gather(x)


        def run(x):
            try:
                return gather(x)
            except Exception:
                return None
        """,
        runs=False,
    ),
    marked(
        "a_caller_of_its_caller_does",
        """
        import lib.comm as comm


        def reduce(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 silent@16


        def times(function, x):
            for _ in range(5):
                function(x)


        def run(x):
            try:
                times(reduce, x)
            except Exception:
                pass
        """,
    ),
    marked(
        "a_caller_hides_an_import",
        """
        def load():
            from lib.comm import gather  #! DW201 gather 0.1.0 raises; DW201 gather 0.1.0 silent@9
            return gather


        def run(x):
            try:
                return load()(x, axis=0)
            except Exception:
                return None
        """,
    ),
    marked(
        "a_caller_expects_it",
        """
        import lib.comm as comm


        def reduce(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            try:
                return reduce(x)
            except TypeError:
                return comm.fuse(x, 1)
        """,
        runs=False,
    ),
    marked(
        "a_generator_made_where_its_caller_hides",
        """
        import lib.comm as comm


        def gathered(x):
            yield comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run(x):
            try:
                found = gathered(x)
            except Exception:
                return None
            return list(found)
        """,
    ),
    marked(
        "a_program_that_asks_first",
        """
        import lib.comm as comm


        def require():
            if not hasattr(comm, "gather"):
                raise SystemExit("too old")


        if __name__ == "__main__":
            require()
            comm.gather(1, axis=0)
        """,
        runs=False,
    ),
    marked(
        "a_program_that_prepares_first",
        """
        import lib.comm as comm

        options = {}


        def prepare():
            options["early"] = True


        if __name__ == "__main__":
            prepare()
            comm.fuse(1, 1, **options)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "a_generator_that_is_gone_through_at_once",
        """
        import lib.comm as comm


        def _gathered(x):
            yield comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@11


        def run(x):
            try:
                return list(_gathered(x))
            except Exception:
                return None
        """,
    ),
    marked(
        "a_coroutine_that_is_awaited_elsewhere",
        """
        import lib.comm as comm


        async def _gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        async def use(x):
            try:
                found = _gather(x)
            except Exception:
                return None
            return await found
        """,
        runs=False,
    ),
    marked(
        "a_program_that_ends_whatever_was_taken",
        """
        import os
        import sys

        import lib.comm as comm


        def work(x):
            status = 1
            try:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
                status = 0
            except BaseException as error:
                print(error)
            finally:
                try:
                    x.close()
                except Exception:
                    status = 2
                finally:
                    sys.stdout.flush()
                    os._exit(status)


        def work_on(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@27
            except Exception as error:
                print(error)
            finally:
                x.close()
        """,
        runs=False,
    ),
    marked(
        "calls_that_are_put_off",
        """
        import asyncio
        import itertools
        import threading
        from concurrent.futures import ThreadPoolExecutor, as_completed

        import lib.comm as comm

        _pool = ThreadPoolExecutor(max_workers=1)


        async def _make(g):
            return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@69; DW101 group 0.1.0 raises


        async def _gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        async def _legacy(x):
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 silent


        def run_submitted(g):
            future = _pool.submit(comm.create, 1, 0, group=g)  #! DW101 group 0.1.0 raises
            return future.result()


        def run_asked_quietly(g):
            future = _pool.submit(comm.create, 1, rank=0, group=g)  #! DW101 group 0.1.0 silent@32
            try:
                return future.result(timeout=30)
            except Exception:
                return None


        def run_never_asked(g):
            _pool.submit(comm.create, 1, 0, group=g)  #! DW101 group 0.1.0 silent


        def run_exception(g):
            with ThreadPoolExecutor() as pool:
                future = pool.submit(comm.create, 1, 0, group=g)  #! DW101 group 0.1.0 raises
            if future.exception() is not None:
                raise RuntimeError("none")


        def run_completed(g):
            with ThreadPoolExecutor() as pool:
                futures = [pool.submit(comm.create, 1, 0, group=g) for _ in range(2)]  #! DW101 group 0.1.0 raises
                return [future.result() for future in as_completed(futures)]


        def run_mapped(x):
            with ThreadPoolExecutor() as pool:
                return list(pool.map(comm.fuse, [x]))  #! DW102 workspace 0.1.0 to 0.10.0 raises


        def run_thread(g):
            thread = threading.Thread(target=comm.create, args=(1, 0), kwargs={"group": g})  #! DW101 group 0.1.0 silent
            thread.start()
            thread.join()


        def run_star(g):
            return list(itertools.starmap(comm.fuse, [(1,)]))  #! DW102 workspace 0.1.0 to 0.10.0 raises


        async def gathered(g):
            made = await asyncio.gather(*(_make(g) for _ in range(2)), return_exceptions=True)
            return [each for each in made if not isinstance(each, BaseException)]


        async def gathered_openly(g):
            return await asyncio.gather(_make(g), return_exceptions=False)


        async def made_inside(x):
            try:
                task = asyncio.create_task(_gather(x))
            except Exception:
                return None
            return await task


        async def never_awaited(x):
            asyncio.create_task(_legacy(x))


        async def in_a_thread(g):
            try:
                return await asyncio.to_thread(comm.create, 1, 0, group=g)  #! DW101 group 0.1.0 silent@92
            except Exception:
                return None


        async def in_an_executor(g):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, comm.legacy, g)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        async def within_time(x):
            return await asyncio.wait_for(_gather(x), 5)


        if __name__ == "__main__":
            asyncio.run(within_time(1))
        """,
        runs=False,
    ),
)
