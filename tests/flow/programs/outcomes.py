"""Where the exception of a drift ends: nobody takes it, a handler for something else does, or the one that is meant."""

from __future__ import annotations

from tests.flow.marked import marked

OUTCOMES = (
    marked(
        "swallowed",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7
            except Exception:
                return None
        """,
    ),
    marked(
        "swallowed_in_the_caller",
        """
        import lib.comm as comm


        def _make(g):
            return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@11


        def run(g):
            try:
                return _make(g)
            except Exception as error:
                str(error)
                return None
        """,
    ),
    marked(
        "what_would_fail_next_is_told_behind_a_finally_too",
        """
        import lib.comm as comm


        def _make(g):
            try:
                ws = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7; DW101 group 0.1.0 raises
            except Exception:
                return None
            finally:
                str(g)
            return ws


        def run(g):
            ws = _make(g)
            if ws is not None:
                ws.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_what_stops(g):
            ws = _make(g)
            if ws is None:
                raise RuntimeError("no workspace")
            ws.fits(1, 2)
        """,
        runs=False,
    ),
    marked(
        "tried_again_without",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 guarded@7
            except TypeError:
                return comm.create(1, 0)
        """,
    ),
    marked(
        "raised_again",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                raise RuntimeError("no workspace") from error
        """,
    ),
    marked(
        "handler_for_something_else",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except (ValueError, KeyError):
                return None
        """,
    ),
    marked(
        "finally_that_returns",
        """
        import lib.comm as comm


        def run(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent
            finally:
                return None
        """,
        runs=False,
    ),
    marked(
        "finally_sees_every_way",
        """
        import lib.comm as comm


        def run(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            finally:
                comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
        runs=False,
    ),
    marked(
        "else_runs_where_nothing_was_raised",
        """
        import lib.comm as comm


        def run(x):
            try:
                gather = comm.gather  #! DW201 gather 0.1.0 guarded@7
            except AttributeError:
                return comm.legacy(x)
            else:
                return gather(x, 0)  #! DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "broad_handler_round_nothing_but_checks",
        """
        try:
            import lib.comm as comm

            HAS = hasattr(comm, "gather")
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@6
        except Exception:
            HAS = False
        """,
    ),
    marked(
        "pytest_raises_expects_it",
        """
        import pytest

        import lib.comm as comm


        def test_old():
            with pytest.raises(TypeError):
                comm.create(1, 0, group=None)  #! DW101 group 0.1.0 guarded@7
        """,
        runs=False,
    ),
    marked(
        "handler_of_a_base_class",
        """
        import lib.comm as comm


        def run(x):
            try:
                from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@7
            except (ImportError, OSError):
                legacy = comm.fuse
            return x
        """,
    ),
    marked(
        "suppressed_type_error",
        """
        import contextlib

        import lib.comm as comm


        def run(g):
            with contextlib.suppress(TypeError):
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7
            return None
        """,
    ),
    marked(
        "inner_handler_first",
        """
        import lib.comm as comm


        def run(g):
            try:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 guarded@8
                except TypeError:
                    return comm.create(1, 0)
            except Exception:
                return None
        """,
    ),
    marked(
        "logged_and_raised_again",
        """
        import logging

        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except TypeError:
                logging.getLogger().debug("no group")
                raise
        """,
    ),
    marked(
        "attribute_error_is_for_names",
        """
        import lib.comm as comm


        def run(x):
            try:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@7
            except AttributeError:
                return comm.fuse(x, x)
        """,
    ),
    marked(
        "script_that_exits_where_the_name_is_missing",
        """
        import sys

        try:
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        except ImportError:
            sys.exit("needs an old lib")


        def run(x):
            return legacy(x)
        """,
        runs=False,
    ),
    marked(
        "handler_that_raises_what_it_does_not_mean",
        """
        import lib.comm as comm


        def run(x, workspace):
            try:
                return comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 silent@7
            except Exception as error:
                if isinstance(error, TypeError):
                    return None
                raise
        """,
    ),
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
        "raised_behind_the_handler",
        """
        import logging

        import lib.comm as comm

        log = logging.getLogger()


        def run_none(g):
            made = None
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                log.warning("%s", error)
            if made is None:
                raise RuntimeError("it was asked for")
            return made


        def run_after(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                log.warning("none")
            raise RuntimeError("none")


        def run_kept(g):
            last = None
            for _ in range(3):
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    last = error
            raise last


        def run_list(x):
            errors = []
            for axis in (0, 1):
                try:
                    comm.gather(x, axis=axis)  #! DW201 gather 0.1.0 raises
                except Exception as error:
                    errors.append(error)
            if errors:
                raise RuntimeError(f"{len(errors)} failed")


        def run_else(g):
            for _ in range(2):
                try:
                    made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                    break
                except TypeError:
                    continue
            else:
                raise RuntimeError("none")
            return made


        def run_flag(g):
            done = False
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                done = True
            except Exception:
                pass
            assert done


        def run_other(g):
            made = None
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@74
            except Exception:
                made = 0
            if made is None:
                raise RuntimeError("cannot be")
            return made
        """,
    ),
    marked(
        "raised_behind_the_handler_for_something_else",
        """
        import lib.comm as comm


        def run(x, g):
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7
            except Exception:
                made = None
            if x.shape[0] == 0:
                raise ValueError("nothing in it")
            assert x.dim() == 2
            return made
        """,
        runs=False,
    ),
    marked(
        "a_handler_that_asks_what_it_has_taken",
        """
        import lib.comm as comm

        WRONG = (TypeError, AttributeError)


        def prepare(x):
            return x


        def run_is(x):
            prepare(x)
            try:
                return comm.gather(prepare(x), axis=0)  #! DW201 gather 0.1.0 raises
            except Exception as error:
                if isinstance(error, (TypeError, AttributeError)):
                    raise RuntimeError("too old") from error
                return None


        def run_is_named(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            except Exception as error:
                if isinstance(error, WRONG):
                    raise
                return None


        def run_is_none_of(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@32
            except Exception as error:
                if isinstance(error, OSError | KeyError):
                    raise
                return None


        def run_type(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                if type(error) is TypeError:
                    raise
                return None


        def run_type_name(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@50
            except Exception as error:
                if type(error).__name__ != "TypeError":
                    raise
                return None


        def run_text(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                if "CUDA" not in str(error):
                    raise
                return None


        def run_text_of_it(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@68
            except Exception as error:
                if "unexpected keyword argument 'group'" in str(error):
                    return None
                raise


        def run_subclass(x):
            try:
                from lib.comm import gather  #! DW201 gather 0.1.0 raises
            except ImportError as error:
                if isinstance(error, ModuleNotFoundError):
                    return None
                raise
            return gather(x, axis=0)
        """,
    ),
    marked(
        "a_handler_that_calls_what_raises",
        """
        import logging

        import lib.comm as comm

        log = logging.getLogger()
        STRICT = False


        class Unavailable(RuntimeError):
            pass


        def fatal(message, cause):
            log.critical(message)
            raise Unavailable(message) from cause


        class Failing:
            def fail(self, error):
                raise Unavailable(str(error))

            def make(self, g):
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    self.fail(error)


        def run_method(g):
            return Failing().make(g)


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                fatal("none", error)


        def run_assert(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                assert False, f"failed: {error}"


        def run_strict(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@50
            except Exception:
                if STRICT:
                    raise
                return None


        def run_own(g):
            try:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@62
                except Exception as error:
                    raise Unavailable("none") from error
            except Unavailable:
                return None


        def run_own_base(g):
            try:
                fatal("first", None) if g == "x" else None
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@73
                except Exception as error:
                    fatal("none", error)
            except RuntimeError:
                return None


        def run_own_other(g):
            try:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    raise Unavailable("none") from error
            except ValueError:
                return None
        """,
    ),
    marked(
        "nobody_can_tell_what_the_handler_does",
        """
        import os

        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 unknown@9
            except Exception:
                if os.environ.get("STRICT"):
                    raise
                return None


        def run_kinds(g, kinds):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 unknown@18
            except kinds:
                return None
        """,
        runs=False,
    ),
    marked(
        "a_finally_that_goes_another_way",
        """
        import sys

        import lib.comm as comm


        def run_break(g):
            while True:
                try:
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent
                finally:
                    break
            return None


        def run_raise(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            finally:
                g.close()


        def run_taken_outside(g):
            try:
                try:
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@28
                finally:
                    g.close()
            except Exception:
                pass


        def run_exit(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                return None
            finally:
                sys.exit(1)
        """,
        runs=False,
    ),
    marked(
        "a_test_that_fails_or_is_skipped_in_the_handler",
        """
        import pytest

        import lib.comm as comm


        def test_fails(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                pytest.fail(f"no: {error}")


        def test_fails_later(g):
            failures = []
            for name in ("a", "b"):
                try:
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    failures.append((name, error))
            if failures:
                pytest.fail(str(failures))


        def test_skipped(g):
            try:
                from lib.comm import gather  #! DW201 gather 0.1.0 guarded@27
            except ImportError:
                pytest.skip("too old")
            gather(g, axis=0)
        """,
        runs=False,
    ),
    marked(
        "a_probe_tells_its_caller",
        """
        def support_error(x):
            try:
                from lib.comm import gather  #! DW201 gather 0.1.0 guarded@6

                gather(x, axis=0)
            except Exception as error:
                return f"probe raised {type(error).__name__}: {error}"
            return None


        def _use(x):
            from lib.comm.extra import deep  #! DW202 extra 0.2.0 raises

            return deep(x, 1)


        def run(x):
            error = support_error(x)
            if error is not None:
                raise RuntimeError(error)
            return _use(x)
        """,
        runs=False,
    ),
    marked(
        "what_was_taken_is_missed_later",
        """
        import lib.comm as comm


        def run_name(g):
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                print("none")
            return made


        def run_none(g):
            made = None
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                print("none")
            return made.fits(1, 2)


        def run_script_end(g):
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@24
            except Exception:
                made = None
            raise SystemExit(0)
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
    marked(
        "loops_and_objects_that_remember",
        """
        import asyncio
        import sys

        import lib.comm as comm


        class Service:
            strict = True

            def __init__(self):
                self.error = None
                self.made = None

            def keep(self, g):
                try:
                    self.made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    self.error = error
                if self.error is not None:
                    raise RuntimeError("none") from self.error

            def insist(self, g):
                try:
                    self.made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception:
                    if self.strict:
                        raise


        def run_insist(g):
            Service().insist(g)


        def run_keep(g):
            Service().keep(g)


        def run_until(g):
            attempts = 0
            while True:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception:
                    attempts += 1
                    if attempts >= 3:
                        raise


        def run_pattern(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                match error:
                    case TypeError():
                        raise
                    case _:
                        return None


        def run_finally(g):
            done = False
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                done = True
            except Exception:
                pass
            finally:
                if not done:
                    raise RuntimeError("none")


        def _status(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                return 1
            return 0


        def run_exit(g):
            status = _status(g)
            if status:
                sys.exit(status)


        def run_two(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@89
            except Exception:
                pass
            try:
                return comm.gather(g, axis=0)  #! DW201 gather 0.1.0 raises
            except Exception:
                raise
        """,
        runs=False,
    ),
)
