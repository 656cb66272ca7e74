"""Classes derived from the library's: whose constructor it is, and bases of the library in some releases alone."""

from __future__ import annotations

from tests.flow.marked import marked

DERIVED = (
    marked(
        "constructor_of_the_base",
        """
        import lib.comm as comm


        class Taller(comm.Ring):
            def __init__(self, size):
                super().__init__(size, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises


        class ByName(comm.Ring):
            def __init__(self, size):
                comm.Ring.__init__(self, size, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises


        class Plain(comm.Ring):
            pass


        class Lower(Plain):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)


        def run_taller():
            return Taller(1)


        def run_by_name():
            return ByName(1)


        def run_plain():
            return Plain(1, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises


        def run_lower():
            return Lower(size=1, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises


        def run_right():
            return Plain(1), Lower(size=1)
        """,
    ),
    marked(
        "constructor_that_python_writes",
        """
        from dataclasses import dataclass

        import lib.comm as comm


        @dataclass
        class Measured(comm.Ring):
            shape: object = None
            depth: int = 0


        class Deeper(Measured):
            pass


        @dataclass
        class Written(comm.Ring):
            depth: int = 0

            def __init__(self, size, depth=0):
                super().__init__(size, shape=depth)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises


        @dataclass(init=False)
        class Unwritten(comm.Ring):
            depth: int = 0


        def run():
            return Measured(shape=1, depth=2), Deeper(depth=3)


        def run_written():
            return Written(1, depth=1)


        def run_unwritten():
            return Unwritten(1, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises
        """,
    ),
    marked(
        "constructor_that_a_decorator_may_write",
        """
        import functools

        import attr

        import lib.comm as comm


        @attr.s(auto_attribs=True)
        class Measured(comm.Ring):
            shape: object = None
            depth: int = 0


        @functools.total_ordering
        class Ordered(comm.Ring):
            def __lt__(self, other):
                return False


        def run():
            return Measured(shape=1, depth=2)  #? the constructor of this class may be one that its decorator writes


        def run_ordered():
            return Ordered(1, shape=None)  #! DW101 shape 0.1.0 to 0.2.0.post1 raises
        """,
        runs=False,
    ),
    marked(
        "constructor_looked_at_before",
        """
        import inspect

        import lib.comm as comm

        SHAPED = "shape" in inspect.signature(comm.Ring.__init__).parameters


        class Guarded(comm.Ring):
            def __init__(self, size):
                if SHAPED:
                    super().__init__(size, shape=None)
                else:
                    super().__init__(size)


        def run():
            return Guarded(1)
        """,
    ),
    marked(
        "base_of_the_library_in_some_releases",
        """
        try:
            from lib.comm import Plan as Base  #! DW201 Plan 0.1.0 guarded@3
        except ImportError:
            class Base:
                def __init__(self, *args, **kwargs):
                    self.args = args

                def describe(self, text):
                    return text


        class Ours(Base):
            def __init__(self):
                super().__init__(group=None)  #! DW101 group 0.10.0 raises


        class Theirs(Base):
            pass


        def run():
            return Ours()


        def run_theirs():
            return Theirs(group=None)  #! DW101 group 0.10.0 raises
        """,
    ),
    marked(
        "another_base_may_bring_the_constructor",
        """
        import threading

        import lib.comm as comm


        class Mixed(threading.Thread, comm.Ring):
            def __init__(self):
                super().__init__(daemon=True)


        def run():
            return Mixed()
        """,
        runs=False,
    ),
    marked(
        "instance_that_is_called",
        """
        import lib.comm as comm


        class Op:
            def __init__(self, **options):
                self.options = options

            def __call__(self, x, workspace, **more):
                return comm.fuse(x, workspace, **self.options, **more)


        op = Op(output=None)


        def run(x, workspace):
            return op(x, workspace)


        def run_more(x, workspace):
            return op(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "records_of_what_was_found_out",
        """
        import inspect
        from dataclasses import asdict, dataclass
        from typing import NamedTuple

        import lib.comm as comm


        class Caps(NamedTuple):
            gather: bool
            bias: bool = False


        @dataclass
        class Features:
            legacy: bool = False
            early: bool = False


        @dataclass(frozen=True)
        class Options:
            rank: int = 0
            group: object = None

            def keywords(self):
                return {"rank": self.rank, "group": self.group}


        def detect():
            if not hasattr(comm, "gather"):
                return Caps(False)
            return Caps(True, bias="bias" in inspect.signature(comm.fuse).parameters)


        CAPS = detect()
        FEATURES = Features(legacy=hasattr(comm, "legacy"))


        def run(x, workspace):
            if CAPS.gather:
                comm.gather(x, axis=0)
            if CAPS[1]:
                comm.fuse(x, workspace, bias=1.0)
            if FEATURES.legacy:
                comm.legacy(x)
            if FEATURES.early:
                comm.nothing
            gather, _ = CAPS
            if not gather:
                return comm.legacy(x)
            return comm.gather(x, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises


        def run_dict():
            return comm.create(1, **asdict(Options()))  #! DW101 group 0.1.0 raises


        def run_method():
            return comm.create(1, **Options(rank=1).keywords())  #! DW101 group 0.1.0 raises
        """,
    ),
)
