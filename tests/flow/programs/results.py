"""Tuples that calls give, in one release of another length than in the next: taken apart, looked into, counted."""

from __future__ import annotations

from tests.flow.marked import marked

RESULTS = (
    marked(
        "result_taken_apart",
        """
        import lib.comm as comm


        def run(x):
            a, b = comm.pair(x)  #! DW105 pair 0.2.0.post1 to 0.10.0 raises
            return a


        def run_later(x):
            found = comm.pair(x)
            kept = [found]
            (a, b, c) = kept[0]  #! DW105 pair 0.1.0 to 0.2.0 raises
            return c


        def run_rest(x):
            first, *rest = comm.pair(x)
            a, b, c, *rest = comm.pair(x)  #! DW105 pair 0.1.0 to 0.2.0 raises
            return first


        def run_loop(x):
            for a, b in [comm.pair(x)]:  #! DW105 pair 0.2.0.post1 to 0.10.0 raises
                return a
        """,
    ),
    marked(
        "result_through_a_function",
        """
        import lib.comm as comm


        def _found(x):
            return comm.pair(x)


        class Keeper:
            def __init__(self, x):
                self.found = comm.pair(x)

            def last(self):
                return self.found[2]  #! DW105 pair 0.1.0 to 0.2.0 raises


        def run(x):
            a, b, c = _found(x)  #! DW105 pair 0.1.0 to 0.2.0 raises
            return a


        def run_kept(x):
            return Keeper(x).last()
        """,
    ),
    marked(
        "result_looked_into",
        """
        import lib.comm as comm


        def run(x):
            found = comm.pair(x)
            return found[0], found[-1], found[-2]


        def run_third(x):
            found = comm.pair(x)
            try:
                return found[2]  #! DW105 pair 0.1.0 to 0.2.0 guarded@13
            except IndexError:
                return None


        def run_swallowed(x):
            try:
                a, b, c = comm.pair(x)  #! DW105 pair 0.1.0 to 0.2.0 silent@20
            except Exception:
                return None
            return c
        """,
    ),
    marked(
        "result_counted",
        """
        import lib.comm as comm


        def run(x):
            found = comm.pair(x)
            if len(found) == 3:
                a, b, c = found
            else:
                a, b = found
            return a


        def run_by_keyword(x, ws):
            found = comm.pair(x)
            if len(found) > 2:
                return comm.fuse(x, ws, bias=found[2])
            return comm.fuse(x, ws, bias=1)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
)
