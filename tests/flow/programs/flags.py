"""Guards that travel: kept in variables, attributes and modes, put together with what nobody knows."""

from __future__ import annotations

from tests.flow.marked import marked

FLAGS = (
    marked(
        "unknown_and_guard_kept",
        """
        import os

        import lib.comm as comm

        enabled = bool(os.environ.get("FUSE"))
        OK = enabled and hasattr(comm, "gather")
        OFF = not enabled or not hasattr(comm, "gather")
        BITS = enabled
        BITS &= hasattr(comm, "gather")
        LATE = hasattr(comm, "gather")
        LATE = enabled and LATE
        MANY = enabled and os.name == "posix" and hasattr(comm, "gather") and not OFF


        class Layer:
            def __init__(self, enabled):
                self.enabled = enabled and hasattr(comm, "gather")
                if os.environ.get("OFF"):
                    self.enabled = False

            def forward(self, x):
                if self.enabled:
                    return comm.gather(x, axis=0)
                return x


        def run(x):
            if OK:
                comm.gather(x, axis=0)
            if not OFF:
                comm.gather(x, axis=0)
            if BITS:
                comm.gather(x, axis=0)
            if LATE:
                comm.gather(x, axis=0)
            if MANY:
                comm.gather(x, axis=0)


        def run_local(x, wanted, disabled):
            ok = wanted and hasattr(comm, "gather")
            off = disabled or not hasattr(comm, "gather")
            if ok:
                comm.gather(x, axis=0)
            if off:
                return x
            return comm.gather(x, axis=0)


        def usable(wanted):
            return wanted and hasattr(comm, "gather")


        def run_returned(x, wanted):
            if usable(wanted):
                return comm.gather(x, axis=0)


        def run_none(x, plan):
            plan = plan and hasattr(comm, "gather")
            return comm.gather(x, axis=0) if plan else None
        """,
    ),
    marked(
        "an_operand_that_is_filled_later_is_no_flag",
        """
        import lib.comm as comm


        def run(given, x):
            queue = given or [x]
            while queue:
                queue.pop()
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_items(given, x):
            items = given and list(given)
            items = items or []
            items.append(x)
            if items:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "modes_that_are_members_of_an_enumeration",
        """
        import enum
        from enum import Enum, auto

        import lib.comm as comm
        from modes import CAPS, MODE, NAMED, Cap, Level, Mode, Named


        class Own(Enum):
            NEW = auto()
            OLD = auto()


        OWN = Own.NEW if hasattr(comm, "gather") else Own.OLD


        class Layer:
            def __init__(self):
                self.mode = Own.OLD
                if hasattr(comm, "gather"):
                    self.mode = Own.NEW

            def forward(self, x):
                if self.mode is Own.NEW:
                    return comm.gather(x, axis=0)
                return x


        def level():
            if hasattr(comm, "extra"):
                return Level.HIGH
            return Level.LOW if hasattr(comm, "gather") else Level.NONE


        def run(x):
            if MODE is Mode.NEW:
                comm.gather(x, axis=0)
            if MODE == Mode.OLD:
                comm.legacy(x)
            if MODE != Mode.OLD:
                comm.gather(x, axis=0)
            if MODE.value == "new":
                comm.gather(x, axis=0)
            if MODE.name == "NEW":
                comm.gather(x, axis=0)
            if MODE in (Mode.NEW, Mode.NEWER):
                comm.gather(x, axis=0)
            if OWN is Own.NEW:
                comm.gather(x, axis=0)
            if NAMED == "new" or NAMED is Named.NEWER:
                comm.gather(x, axis=0)


        def run_flags(x):
            if CAPS & Cap.GATHER:
                comm.gather(x, axis=0)
            if Cap.GATHER in CAPS:
                comm.gather(x, axis=0)
            if CAPS & (Cap.GATHER | Cap.OUT) == Cap.GATHER | Cap.OUT:
                comm.gather(x, axis=0, out=x)
            if CAPS & ~Cap.GATHER:
                comm.gather(x, axis=0)
            if CAPS:
                comm.gather(x, axis=0)
            if not CAPS & Cap.GATHER:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_level(x):
            if level() >= Level.LOW:
                comm.gather(x, axis=0)
            if level() > Level.LOW:
                comm.extra.deep(x, x)


        def run_matched(x):
            match MODE:
                case Mode.NEW:
                    comm.gather(x, axis=0)
                case _:
                    comm.legacy(x)


        def run_asked(x):
            if Mode("new") is MODE:
                comm.gather(x, axis=0)
            if Mode["NEW"] is MODE:
                comm.gather(x, axis=0)
            if MODE.is_new:
                comm.gather(x, axis=0)
            if MODE.takes("gather"):
                comm.gather(x, axis=0)
        """,
        modes="""
        import enum
        import inspect

        import lib.comm as comm


        class Mode(enum.Enum):
            NEW = "new"
            NEWER = "newer"
            OLD = "old"

            @property
            def is_new(self):
                return self is Mode.NEW

            def takes(self, name):
                return self is not Mode.OLD and name == "gather"


        class Named(str, enum.Enum):
            NEW = "new"
            NEWER = "newer"
            OLD = "old"


        class Level(enum.IntEnum):
            NONE = 0
            LOW = 1
            HIGH = 2


        class Cap(enum.IntFlag):
            NONE = 0
            GATHER = enum.auto()
            OUT = enum.auto()


        def detect():
            caps = Cap.NONE
            if hasattr(comm, "gather"):
                caps |= Cap.GATHER
                if "out" in inspect.signature(comm.gather).parameters:
                    caps |= Cap.OUT
            return caps


        CAPS = detect()
        MODE = Mode.NEW if hasattr(comm, "gather") else Mode.OLD
        NAMED = Named.NEW if hasattr(comm, "gather") else Named.OLD
        """,
    ),
    marked(
        "an_enumeration_of_a_file_that_knows_nothing_of_the_library",
        """
        import lib.comm as comm
        from modes import Cap, Mode

        MODE = Mode.NEW if hasattr(comm, "gather") else Mode.OLD
        CAPS = Cap.GATHER if hasattr(comm, "gather") else Cap(0)


        def run(x):
            if MODE is Mode.NEW:
                comm.gather(x, axis=0)
            if MODE is Mode.OLD:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            if CAPS & Cap.GATHER:
                comm.gather(x, axis=0)
        """,
        modes="""
        from enum import Flag, Enum


        class Mode(Enum):
            NEW = object()
            OLD = object()


        class Cap(Flag):
            GATHER = 1
            FUSE = 2
        """,
    ),
    marked(
        "implementations_that_a_guard_chooses",
        """
        import lib.comm as comm

        HAS = hasattr(comm, "gather")
        MODE = "new" if HAS else "old"


        def _new(x):
            return comm.gather(x, axis=0)


        def _old(x):
            return x


        def _listed(x):
            return comm.gather(x, axis=0)


        def _picked(x):
            return comm.gather(x, axis=0)


        def _first(x):
            return comm.gather(x, axis=0)


        def _published(x):
            return comm.gather(x, axis=0)


        class _New:
            def go(self, x):
                return comm.gather(x, axis=0)


        class _Old:
            def go(self, x):
                return x


        gather = _new if HAS else _old
        TABLE = {"new": _listed, "old": _old}
        PAIR = (_first, _old)
        Implementation = _New if HAS else _Old
        made = Implementation()
        if HAS:
            published = _published


        class Layer:
            def __init__(self):
                self.run = self._fused if HAS else self._plain
                self.other = _picked if HAS else _old

            def _fused(self, x):
                return comm.gather(x, axis=0)

            def _plain(self, x):
                return x

            def forward(self, x):
                return self.run(x), self.other(x)


        def pick():
            return _picked if HAS else _old


        def run(x):
            gather(x)
            TABLE[MODE](x)
            PAIR[0 if HAS else 1](x)
            pick()(x)


        def run_object(x):
            Implementation().go(x)
            made.go(x)
        """,
    ),
    marked(
        "what_is_kept_where_nobody_calls_it",
        """
        import lib.comm as comm


        def _nobody(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def _nobody_either(x):
            return comm.gather(x, axis=0)


        EVERY = [_nobody]
        if hasattr(comm, "gather"):
            EVERY.append(_nobody_either)
        """,
        runs=False,
    ),
)
