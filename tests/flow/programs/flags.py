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
)
