"""Which class a method comes from."""

from __future__ import annotations

from tests.flow.marked import marked

MRO = (
    marked(
        "mro_basic",
        """
        import lib.comm as comm


        class Base:
            def go(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        class Join(Base):
            action = staticmethod(comm.fuse)


        def run(x):
            return Join().go(x)
        """,
    ),
    marked(
        "mro_constructor_of_the_base",
        """
        import lib.comm as comm


        class Base:
            def __init__(self, action):
                self.action = action


        class Middle(Base):
            pass


        class Join(Middle):
            def go(self, x):
                return self.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return Join(comm.fuse).go(x)
        """,
    ),
    marked(
        "mro_two_parents",
        """
        import lib.comm as comm


        class Make:
            def action(self):
                return comm.create


        class Join:
            def action(self):
                return comm.fuse

            def other(self):
                return comm.create


        class Both(Join, Make):
            pass


        def run(x):
            Both().other()(1, 0)
            return Both().action()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "mro_diamond",
        """
        import lib.comm as comm


        class Top:
            def action(self):
                return comm.create


        class Left(Top):
            pass


        class Right(Top):
            def action(self):
                return comm.fuse


        class Both(Left, Right):
            pass


        def run(x):
            return Both().action()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "mro_super",
        """
        import lib.comm as comm


        class Base:
            def go(self, action, x):
                return action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        class Join(Base):
            def go(self, action, x):
                return super().go(comm.fuse, x)


        def run(x):
            return Join().go(comm.create, x)
        """,
    ),
    marked(
        "mro_super_goes_to_the_sibling",
        """
        import lib.comm as comm


        class Top:
            def action(self):
                return comm.create


        class Left(Top):
            def action(self):
                return super().action()


        class Right(Top):
            def action(self):
                return comm.fuse


        class Both(Left, Right):
            pass


        def run(x):
            Left().action()(1, 0)
            return Both().action()(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "mro_attributes_of_self",
        """
        import lib.comm as comm


        class Base:
            def __init__(self):
                self.action = comm.create


        class Join(Base):
            def __init__(self):
                super().__init__()
                self.make = self.action
                self.action = comm.fuse


        def run(x):
            Join().make(1, 0)
            return Join().action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "mro_base_by_name",
        """
        import lib.comm as comm


        class Base:
            def go(self, x):
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises

            @classmethod
            def named(cls):
                return cls.action


        class Join(Base):
            action = staticmethod(comm.create)

            def go(self, x):
                return Base.go(self, x)


        def run(x):
            return Join().go(x)


        def run_class(x):
            return Join.named()(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
)
