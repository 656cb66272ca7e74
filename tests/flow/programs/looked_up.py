"""Attributes that are looked up in ways of their own: descriptors, hooks, the next class, functions with attributes."""

from __future__ import annotations

from tests.flow.marked import marked

LOOKED_UP = (
    marked(
        "manager_that_gives_what_it_was_given",
        """
        import contextlib
        import lib.comm as comm


        def run(x):
            with contextlib.nullcontext(comm.create) as make:
                return make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "decorators_that_give_back_what_they_are_put_on",
        """
        import functools
        import lib.comm as comm


        def run_wrapped(x):
            return functools.wraps(comm.create)(comm.create)(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_updated(x):
            def inner(*args, **kwargs):
                return comm.fuse(*args, **kwargs)
            return functools.update_wrapper(inner, comm.fuse)(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "descriptors_of_own_classes",
        """
        import lib.comm as comm


        class Lazy:
            def __init__(self, name):
                self.name = name

            def __get__(self, owner, kind=None):
                return getattr(comm, self.name)  #? an attribute of the library is read by a name that is not known


        class Ops:
            join = Lazy("fuse")
            make = Lazy("create")


        class Named:
            def __set_name__(self, owner, name):
                self.name = name

            def __get__(self, owner, kind=None):
                return getattr(comm, self.name)  #? an attribute of the library is read by a name that is not known


        class Api:
            fuse = Named()


        def run(x):
            return Ops().join(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_class(x):
            return Ops.make(1, 0, group=x)  #! DW101 group 0.1.0 raises


        def run_named(x):
            return Api().fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "hook_for_attributes_that_are_not_there",
        """
        import lib.comm as comm


        class Proxy:
            def __init__(self, target):
                self._target = target

            def __getattr__(self, name):
                return getattr(self._target, name)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        ops = Proxy(comm)


        def run(x):
            return ops.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_legacy(x):
            return ops.legacy(x)


        def run_local(x):
            return Proxy(comm).create(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "next_class_is_that_of_the_object",
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
        "attributes_of_functions",
        """
        import lib.comm as comm


        def go(x):
            return go.action(x, 1, early=True)  #! DW101 early 0.1.0 raises


        go.action = comm.fuse


        def run(x):
            return go(x)


        def run_direct(x):
            def inner():
                pass
            inner.make = comm.create
            return inner.make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "property_that_only_a_template_asks_for",
        """
        import abc
        import lib.comm as comm


        class Template(abc.ABC):
            @abc.abstractmethod
            def options(self): ...

            @property
            def pattern(self):
                return comm.Pattern.A  #! DW203 A 0.10.0 raises

            def __call__(self, x):
                if not hasattr(comm, "gather"):
                    return x
                return comm.fuse(x, self.pattern, **self.options())


        class Plain(Template):
            def options(self):
                return {}


        class Other(Plain):
            @property
            def pattern(self):
                return comm.Pattern.C  #! DW203 C 0.2.0 to 0.2.0.post1 raises


        def run(x, plain):
            return Plain()(x)


        def run_other(x):
            return Other()(x)
        """,
    ),
    marked(
        "name_of_a_function_in_a_class",
        """
        import lib.comm as comm


        class Op:
            name = None

            def go(self, *args, **kw):
                action = getattr(comm, self.name)  #? an attribute of the library is read by a name that is not known
                return action(*args, **kw)


        class Join(Op):
            name = "fuse"


        class Make(Op):
            name = "create"


        def run(x):
            return Join().go(x, 1, early=1)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return Make().go(1, 0, group=1)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "name_of_a_function_in_an_object",
        """
        import lib.comm as comm


        class Op:
            def __init__(self, name):
                self.name = name

            def find(self):
                return getattr(comm, self.name)  #? an attribute of the library is read by a name that is not known


        OPS = {"join": Op("fuse"), "make": Op("create")}


        def run(x):
            return OPS["join"].find()(x, 1, early=1)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return OPS["make"].find()(1, 0, group=1)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "property_of_a_base_by_super",
        """
        import lib.comm as comm


        class Base:
            @property
            def action(self):
                return comm.fuse


        class Step(Base):
            @property
            def action(self):
                return super().action

            @classmethod
            def make(cls):
                return cls()


        class Other(Step):
            @classmethod
            def make(cls):
                return super().make()


        def run(x):
            return Other.make().action(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "content_of_a_class_put_there_later",
        """
        import lib.comm as comm


        class Holder:
            pass


        BOX = {}
        BOX["join"] = comm.fuse
        Holder.make = staticmethod(comm.create)


        def run(x):
            return BOX["join"](x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_make(x):
            return Holder.make(1, 0, group=x)  #! DW101 group 0.1.0 raises
        """,
    ),
)
