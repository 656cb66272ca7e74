"""Objects that cannot be had in every release: who needs one is not entered without it."""

from __future__ import annotations

from tests.flow.marked import marked

OBTAINABLE = (
    marked(
        "a_manager_whose_constructor_asks_for_a_module",
        """
        import importlib.util


        def has_extra():
            return importlib.util.find_spec("lib.comm.extra") is not None


        class Manager:
            def __init__(self):
                assert has_extra(), "no module"

            def workspace(self):
                from lib.comm.extra import deep

                return deep


        class Special(Manager):
            pass


        class Prepare:
            def __init__(self, manager: Manager):
                self.manager = manager

            def prepare(self, x):
                import lib.comm.extra

                return dispatch(self.manager, x)


        def dispatch(manager: Manager, x):
            from lib.comm.extra import deep

            return deep, manager.workspace(), x


        def special(manager: "Special"):
            from lib.comm.extra import deep


        def perhaps(manager: Manager = None):
            from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 raises


        def perhaps_none(manager: Manager | None):
            from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 raises


        def other(manager: object):
            from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 raises


        def run(x):
            return Prepare(Manager()).prepare(x)
        """,
        runs=False,
    ),
    marked(
        "a_record_that_checks_what_it_is_made_of",
        """
        from dataclasses import dataclass

        import lib.comm as comm


        @dataclass
        class Plan:
            size: int

            def __post_init__(self):
                if not hasattr(comm, "gather"):
                    raise RuntimeError("no gather")

            def go(self, x):
                return comm.gather(x, axis=0)


        class Holder:
            def __new__(cls):
                if not hasattr(comm, "gather"):
                    raise RuntimeError("no gather")
                return super().__new__(cls)


        def follow(plan: Plan, x):
            return comm.gather(x, axis=0)


        def hold(holder: Holder, x):
            return comm.gather(x, axis=0)
        """,
        runs=False,
    ),
    marked(
        "what_is_read_of_a_parameter_tells_its_class",
        """
        import lib.comm as comm
        from managers import Base


        def dispatch(manager: Base, x):
            comm.gather(x, axis=0)
            return manager.workspace_tensor


        def plain(manager: Base, x):
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            return manager.size()


        def either(manager: Base, x):
            comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            return manager.both
        """,
        runs=False,
        managers="""
        import lib.comm as comm


        class Base:
            def size(self):
                return 1


        class Gathering(Base):
            def __init__(self):
                assert hasattr(comm, "gather")
                self.workspace_tensor = None
                self.both = 1


        class Plain(Base):
            def __init__(self):
                self.both = 2
        """,
    ),
    marked(
        "a_flag_is_what_the_constructor_leaves_in_it",
        """
        import lib.comm as comm


        class Manager:
            def __init__(self, group):
                self.enabled = True
                self.found = None
                try:
                    self.found = comm.create(1, 2, group=group)  #! DW101 group 0.1.0 silent@10
                except Exception:
                    self.enabled = False

            def fuse(self, x):
                if not self.enabled:
                    return x
                return comm.fuse(x, 1, early=True)


        def run(x, group):
            return Manager(group).fuse(x)
        """,
    ),
    marked(
        "a_flag_that_others_set_may_be_what_they_set",
        """
        import lib.comm as comm


        class Manager:
            def __init__(self, group):
                self.enabled = True
                try:
                    comm.create(1, 2, group=group)  #! DW101 group 0.1.0 silent@9
                except Exception:
                    self.enabled = False

            def fuse(self, x):
                if not self.enabled:
                    return x
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def _force(manager):
            manager.enabled = True
            return manager


        def run(x, group):
            return _force(Manager(group)).fuse(x)
        """,
    ),
    marked(
        "a_flag_that_a_method_sets_may_be_what_it_sets",
        """
        import lib.comm as comm


        class Manager:
            def __init__(self, group):
                self.enabled = True
                try:
                    comm.create(1, 2, group=group)  #! DW101 group 0.1.0 silent@9
                except Exception:
                    self.enabled = False

            def enable(self):
                self.enabled = True

            def fuse(self, x):
                if not self.enabled:
                    return x
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x, group):
            manager = Manager(group)
            manager.enable()
            return manager.fuse(x)
        """,
    ),
)
