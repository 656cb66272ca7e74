"""Room for deeply nested syntax: a thread whose stack is as deep as what CPython compiles.

Enters: work that follows syntax by calling itself. Leaves: what it returns or raises. CPython compiles chains such as
``a + b + c`` of 2,980 (3.10 to 3.12) to 9,996 levels (3.13), which the stack of a program's first thread, and Python's
own limit of recursion, have no room for.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial, wraps
from threading import Thread
from typing import ParamSpec, TypeVar

MAX_LEVELS = 10_000
"""How many levels of syntax are followed: more than any CPython compiles."""

_FRAMES = 10 * MAX_LEVELS
"""How deep calls may go. The interpreter makes up to seven for each level of syntax."""

_FRAMES_WITHOUT = 6_000
"""The same on the stack of a program's first thread, which has 8 MB."""

_STACK = 512 << 20
"""In bytes. It is address space: only what is used becomes memory. A frame of CPython 3.10 takes up to 2 kB."""

_A_MOMENT = 1.0
"""Seconds in which interrupted work ends, unless it waits for something outside of Python."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
_here = threading.local()


def on_deep_stack(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """A function that does its work in a thread with a deep stack, and waits for it.

    An interrupt ends the work. Within such a thread nothing is done but the work itself; and where the system has none
    to give, the work is done without, as deep as that goes.
    """

    @wraps(work)
    def done(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        if getattr(_here, "is_deep", False):
            return work(*args, **kwargs)
        outcome: Future[_T] = Future()
        context = copy_context()
        thread = Thread(target=lambda: context.run(_do, outcome, partial(work, *args, **kwargs)), daemon=True)
        limit = sys.getrecursionlimit()
        try:
            # Before the thread starts: what it begins with counts for it.
            sys.setrecursionlimit(max(limit, _FRAMES))
            if _start(thread):
                return outcome.result()
            sys.setrecursionlimit(max(limit, _FRAMES_WITHOUT))
            return work(*args, **kwargs)
        except KeyboardInterrupt:
            _interrupt(thread)
            raise
        finally:
            sys.setrecursionlimit(limit)

    return done


def _start(thread: Thread) -> bool:
    usual = threading.stack_size(_STACK)
    try:
        thread.start()
    except RuntimeError:
        return False
    else:
        return True
    finally:
        threading.stack_size(usual)


def _do(outcome: Future[_T], work: Callable[[], _T]) -> None:
    _here.is_deep = True
    try:
        outcome.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where the work is waited for
        outcome.set_exception(error)


def _interrupt(thread: Thread) -> None:
    """What the work holds open is closed on its way out."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
        thread.join(_A_MOMENT)
