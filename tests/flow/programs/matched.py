"""What is taken apart by a pattern, and what is found under keys of any kind."""

from __future__ import annotations

from tests.flow.marked import marked

MATCHED = (
    marked(
        "matched_mapping",
        """
        import lib.comm as comm


        def _launch(op, x):
            match op:
                case {"kind": "fuse", "options": options}:
                    return comm.fuse(x, 1, **options)  #! DW101 early 0.1.0 raises
                case {"kind": "create", **rest}:
                    return comm.create(1, 2, **rest)  #! DW101 group 0.1.0 raises
                case _:
                    return comm.legacy(x)


        def run(x):
            return _launch({"kind": "fuse", "options": {"early": True}}, x)


        def run_create(x):
            return _launch({"kind": "create", "group": x}, None)
        """,
    ),
    marked(
        "matched_classes",
        """
        from dataclasses import dataclass
        import lib.comm as comm


        @dataclass
        class Fuse:
            workspace: object
            early: bool = True


        @dataclass
        class Create:
            group: object


        def launch(spec, x):
            match spec:
                case Fuse(workspace, early=early):
                    return comm.fuse(x, workspace, early=early)  #! DW101 early 0.1.0 raises
                case Create(group=None):
                    return comm.create(1, 2)
                case Create(group=group):
                    return comm.create(1, 2, group=group)  #! DW101 group 0.1.0 raises


        def run(x):
            return launch(Fuse(x), x)


        def run_none(x):
            return launch(Create(None), x)


        def run_group(x):
            return launch(Create(x), x)
        """,
    ),
    marked(
        "matched_sequences",
        """
        import lib.comm as comm


        def launch(op, x):
            match op:
                case [fn]:
                    return fn(x)
                case [fn, *args]:
                    return fn(*args, early=True)  #! DW101 early 0.1.0 raises
                case {"x": y}:
                    return comm.legacy(y)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run(x):
            return launch([comm.fuse, x, 1], x)


        def run_one(x):
            return launch((comm.legacy,), x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "matched_builtin_kinds",
        """
        import lib.comm as comm


        def launch(options, x):
            match options:
                case dict():
                    return comm.fuse(x, 1, **options)  #! DW101 bias 0.1.0 to 0.2.0 raises
                case list() | tuple():
                    return comm.fuse(x, *options)  #! DW103 fuse 0.1.0 to 0.2.0 raises; DW104 early 0.1.0 to 0.2.0
                case str(name):
                    return getattr(comm, name)(x)  #? an attribute of the library is read by a name that is not known


        def run(x):
            return launch({"bias": 1.0}, x)


        def run_list(x):
            return launch([1, None, True, False], x)
        """,
    ),
    marked(
        "matched_keys_of_all_kinds",
        """
        import enum
        import lib.comm as comm


        class Op(enum.Enum):
            FUSE = enum.auto()
            MAKE = enum.auto()


        TABLE = {
            Op.FUSE: comm.fuse,
            Op.MAKE: comm.create,
            1: comm.legacy,  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            None: comm.fuse,
            int: comm.fuse,
            float: comm.create,
        }


        def run(x):
            return TABLE[Op.FUSE](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return TABLE[Op.MAKE](1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_int(x):
            return TABLE[1](x)


        def run_none(x):
            return TABLE[None](x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_type(x):
            return TABLE[int](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_get(x):
            return TABLE.get(float, comm.legacy)(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "matched_keys_set_later",
        """
        import lib.comm as comm


        def run(x):
            ops = {}
            ops[0] = comm.fuse
            ops[1] = comm.create
            del ops[0]
            for key, op in ops.items():
                if key == 1:
                    op(1, 2, group=x)  #! DW101 group 0.1.0 raises


        def run_pop(x):
            ops = {(1, 2): comm.fuse, "b": comm.create}
            return ops.pop((1, 2))(x, 1, bias=1)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
)
