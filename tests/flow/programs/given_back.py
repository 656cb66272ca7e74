"""What a helper gives is made of what it is given: who calls one with what is known is told exactly."""

from __future__ import annotations

from tests.flow.marked import marked

GIVEN_BACK = (
    marked(
        "what_a_helper_gives",
        """
        import lib.comm as comm


        def itself(flag):
            return flag


        def both(first, second):
            return first and second


        def turned(flag):
            return not flag


        def either(first, second=0):
            return first or second


        def pair(first, second):
            return first, second


        def listed(flag):
            return [flag]


        def named(flag):
            return {"on": flag}


        def first(items):
            return items[0]


        def several(items):
            return len(items) > 1


        def upper(name):
            return name.upper()


        def mode(name):
            match name:
                case "on":
                    return True
                case "off":
                    return False
                case _:
                    return hasattr(comm, "gather")


        LEVELS = (0, 1, 2)


        def level(index):
            return LEVELS[index]


        class Wish:
            def __init__(self, wanted):
                self.wanted = wanted


        def looked_at(wish):
            return wish.wanted


        def run_itself(x):
            if itself(False):
                comm.gather(x, axis=0)
            if itself(True):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_both(x):
            if both(True, False):
                comm.gather(x, axis=0)
            if both(True, 1):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_turned(x):
            if turned(True):
                comm.gather(x, axis=0)
            if turned(None):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_either(x):
            if either(False):
                comm.gather(x, axis=0)
            if either(False, 2):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_pair(x):
            if pair(False, True)[0]:
                comm.gather(x, axis=0)
            if pair(False, True)[1]:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_listed(x):
            if listed(False)[0]:
                comm.gather(x, axis=0)
            if listed(True)[0]:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_named(x):
            if named(False)["on"]:
                comm.gather(x, axis=0)
            if named(True)["on"]:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_first(x):
            if first([False]):
                comm.gather(x, axis=0)
            if first([True]):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_several(x):
            if several([1]):
                comm.gather(x, axis=0)
            if several([1, 2]):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_upper(x):
            if upper("a") == "B":
                comm.gather(x, axis=0)
            if upper("b") == "B":
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_mode(x):
            if mode("off"):
                comm.gather(x, axis=0)
            if mode("on"):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_level(x):
            if level(0):
                comm.gather(x, axis=0)
            if level(-1):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_looked_at(x):
            if looked_at(Wish(False)):
                comm.gather(x, axis=0)
            if looked_at(Wish(True)):
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
    marked(
        "records_that_helpers_make",
        """
        from dataclasses import dataclass, replace

        import lib.comm as comm


        @dataclass(frozen=True)
        class Config:
            group: bool = False
            early: bool = False

            def options(self):
                if self.group:
                    return {"group": None}
                return {}

            def more(self):
                found = {}
                if self.early:
                    found["early"] = True
                return found


        def by_place(group, early=False):
            return Config(group, early)


        def spread(raw):
            return Config(**raw)


        def by_name(**raw):
            return Config(**raw)


        def read(raw):
            return Config(raw.get("group", False), raw.get("early", False))


        PLAIN = Config()
        GROUPED = replace(PLAIN, group=True)


        def run_place():
            comm.create(2, 0, **by_place(False).options())
            comm.create(2, 0, **by_place(True).options())  #! DW101 group 0.1.0 raises


        def run_spread():
            comm.create(2, 0, **spread({}).options())
            comm.create(2, 0, **spread({"group": True}).options())  #! DW101 group 0.1.0 raises


        def run_names():
            comm.create(2, 0, **by_name(early=True).options())
            comm.create(2, 0, **by_name(group=True).options())  #! DW101 group 0.1.0 raises


        def run_read(x):
            comm.fuse(x, None, **read({"group": True}).more())
            comm.fuse(x, None, **read({"early": True}).more())  #! DW101 early 0.1.0 raises


        def run_replaced():
            comm.create(2, 0, **PLAIN.options())
            comm.create(2, 0, **GROUPED.options())  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "tables_by_place",
        """
        import lib.comm as comm

        BASE = {"rank": 0}
        GROUPED = BASE | {"group": None}


        def select(index):
            return (BASE, GROUPED)[index]


        def run_selected():
            comm.create(2, **select(0))
            comm.create(2, **select(1))  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "counters",
        """
        import lib.comm as comm

        _count = 0
        _level = 0


        def enter():
            global _count
            _count += 1
            return _count


        def leave():
            global _count
            _count -= 1


        def raise_level():
            global _level
            _level = 2 if hasattr(comm, "gather") else 1


        def run_counted(x):
            enter()
            leave()
            enter()
            enter()
            enter()
            if enter():
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_level(x):
            raise_level()
            if _level > 1:
                comm.gather(x, axis=0)
        """,
    ),
    marked(
        "methods_of_one_of_several",
        """
        from dataclasses import dataclass, field

        import lib.comm as comm


        @dataclass(frozen=True)
        class Op:
            name: str
            wanted: bool = True
            options: dict = field(default_factory=dict)

            def find(self):
                return getattr(comm, self.name)  #? an attribute of the library is read by a name that is not known

            def get_name(self):
                return self.name

            def is_wanted(self):
                return self.wanted


        MAKE = Op("create", options={"group": None})
        GATHER = Op("gather", False)
        OPS = {"make": Op("create"), "fuse": Op("fuse", options={"bias": 0.0})}


        def run_found():
            MAKE.find()(2, 0, **MAKE.options)  #! DW101 group 0.1.0 raises


        def run_name():
            getattr(comm, MAKE.get_name())(2, 0, bias=0)  #! DW101 bias 0.1.0 to 0.2.0.post1 raises


        def run_wanted(x):
            if GATHER.is_wanted():
                comm.gather(x, axis=0)
            if MAKE.is_wanted():
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_table(x):
            op = OPS["fuse"]
            op.find()(x, None, **op.options)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
)
