"""What a test of its class says of a thing, and what an object may have under a name that nobody knows."""

from __future__ import annotations

from tests.flow.marked import marked

TOLD_APART = (
    marked(
        "what_is_no_instance_of_its_own_class_is_something_else",
        """
        import lib.comm as comm
        from lib.comm import Workspace


        def closed(ws: Workspace):
            if isinstance(ws, Workspace):
                return ws.close(now=True)  #! DW203 close 0.1.0 to 0.2.0 raises; DW101 now 0.2.0.post1 raises
            return ws.only_own()


        def either(ws: "comm.Ring | dict"):
            if not isinstance(ws, (dict, comm.Workspace)):
                return ws.only_own()
            return ws


        def made(cls=comm.Ring):
            if isinstance(cls, type) and issubclass(cls, comm.Workspace):
                return cls(1, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises
            return cls(1, 2, 3)


        class Own(comm.Ring):
            pass


        def shown(ring):
            if isinstance(ring, comm.Workspace):
                return ring.fits(1, 2, shape=3)  #! DW101 shape 0.1.0 to 0.10.0 raises
            return ring.only_own(1)


        def run():
            return made(), made(Own), shown(Own(1)), shown(comm.Ring(1))
        """,
        runs=False,
    ),
    marked(
        "what_an_object_holds_is_perhaps_what_is_read_by_a_name",
        """
        import lib.comm as comm


        class Parser:
            def __init__(self, cls=None):
                self.cls = cls or comm.Workspace
                self.at = {}

            def add(self, name, loader):
                self.at[name] = loader

            def load(self, key):
                f = getattr(self, self.at[key])  #? `lib.comm.Workspace` is perhaps what is read by an unknown name
                return f(key, 2, 3)


        def run(name, loader):
            parser = Parser()
            parser.add(name, loader)
            return parser.load(name)
        """,
        runs=False,
    ),
    marked(
        "classes_that_hold_one_another",
        """
        import lib.comm as comm
        from other import Environment


        def run(x):
            return comm.gather(x, axis=Environment.size)  #! DW201 gather 0.1.0 raises
        """,
        other="""
        import lib.comm as comm


        class Environment:
            size = 0


        class Template:
            environment = Environment
            legacy = comm.level


        Environment.template = Template
        """,
    ),
    marked(
        "rows_of_a_table_are_passed_one_at_a_time",
        """
        import lib.comm as comm


        def make(row):
            return comm.create(*row)


        class Prepared:
            def __init__(self, rows):
                self.rows = dict(rows)

            def prepare(self):
                return [make(row) for _, row in self.rows.items()]


        def run(batches):
            tile = {b: next(n for n in (8, 16) if b <= n) for b in batches}
            table = {8: (1, 0), 16: (2, 1)}
            table[64] = (4, 3)
            policy = lambda rows: {b: rows[n] for b, n in tile.items()}
            return Prepared(policy(table)).prepare()


        def run_plain(n):
            table = {8: (1, 0), 16: (2, 1), 64: (4, 3)}
            return comm.create(*table[n])


        def run_looped():
            table = {8: (1, 0), 16: (2, 1), 64: (4, 3)}
            for _, row in table.items():
                comm.create(*row)
        """,
        runs=False,
    ),
)
