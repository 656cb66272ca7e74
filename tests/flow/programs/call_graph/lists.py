"""Functions are items of lists."""

from __future__ import annotations

from tests.flow.marked import marked

LISTS = (
    marked(
        "lists_index",
        """
        import lib.comm as comm

        ACTIONS = [comm.create, comm.fuse]


        def run(x):
            ACTIONS[0](1, 0)
            return ACTIONS[1](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_from_the_end(x):
            return ACTIONS[-2](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "lists_nested",
        """
        import lib.comm as comm

        ACTIONS = [[comm.create], [comm.create, comm.fuse]]


        def run(x):
            ACTIONS[0][0](1, 0)
            return ACTIONS[1][1](x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "lists_slice",
        """
        import lib.comm as comm


        def run(x):
            actions = [comm.create, comm.create, comm.fuse]
            for make in actions[:2]:
                make(1, 0)
            (join,) = actions[2:]
            return join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_stepped(x):
            return [comm.create, comm.fuse, comm.create][::2][1](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "lists_comprehension",
        """
        import lib.comm as comm


        def run(x):
            actions = [action for action in [comm.fuse]]
            return actions[0](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_if(x):
            return [make(1, 0, group=x) for make in [comm.create, None] if make]  #! DW101 group 0.1.0 raises


        def run_nested(x):
            rows = [[comm.fuse], [comm.fuse]]
            return [action(x, 1, bias=1.0) for row in rows for action in row]  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "lists_append_extend_and_insert",
        """
        import lib.comm as comm


        def run(x):
            actions = []
            actions.append(comm.create)
            actions.append(comm.fuse)
            actions[0](1, 0)
            return actions[1](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_extend(x):
            actions = [comm.create]
            actions.extend([comm.fuse])
            actions.insert(0, comm.create)
            actions[1](1, 0)
            return actions[2](x, 1, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_joined(x):
            actions = [comm.fuse] + [comm.create]
            actions += [comm.fuse]
            actions[2](x, 1)
            return actions[1](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "lists_parameter_index",
        """
        import lib.comm as comm


        def _call(actions, index, x):
            return actions[index](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return _call([comm.create, comm.fuse], 1, x)
        """,
    ),
    marked(
        "lists_index_from_elsewhere",
        """
        from places import JOIN, Places
        import lib.comm as comm

        ACTIONS = [comm.create, comm.fuse]


        def run(x):
            return ACTIONS[JOIN](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_class(x):
            return ACTIONS[Places.MAKE](1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
        places="""
        JOIN = 1


        class Places:
            MAKE = JOIN - 1
        """,
    ),
    marked(
        "lists_pop_and_unpack",
        """
        import lib.comm as comm


        def run(x):
            return [comm.create, comm.fuse].pop()(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_unpacked(x):
            make, join = [comm.create, comm.fuse]
            join(x, 1)
            return make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
)
