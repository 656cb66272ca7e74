"""Code that is looked at although nothing in it names the library: what it does with the library is followed there."""

from __future__ import annotations

from tests.flow.marked import marked

REACH = (
    marked(
        "attribute_that_a_nested_function_makes",
        """
        import lib.comm as comm


        class Pool:
            def __init__(self, g):
                def make():
                    return comm.Workspace(g)

                self.workspace = make()

            def close(self):
                return self.workspace.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run(g):
            return Pool(g).close()
        """,
    ),
    marked(
        "attribute_from_a_variable_of_the_same_name",
        """
        import lib.comm as comm


        class Pool:
            def __init__(self):
                self.workspace = None

            def setup(self, g):
                workspace = comm.Workspace(g)
                self.workspace = workspace

            def close(self):
                if self.workspace is not None:
                    return self.workspace.close()  #! DW203 close 0.1.0 to 0.2.0 raises
                return None


        def run(g):
            pool = Pool()
            pool.setup(g)
            return pool.close()
        """,
    ),
    marked(
        "attribute_that_is_renamed_on_its_way",
        """
        import lib.comm as comm


        class Pool:
            def __init__(self, g):
                made = comm.Workspace(g)
                self.parts = (g, made)

            def first(self):
                _, held = self.parts
                return held

            def close(self):
                return self.first().close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run(g):
            return Pool(g).close()
        """,
    ),
    marked(
        "a_name_of_the_package_itself",
        """
        from engine import ops
        from engine.layers.norm import fuse


        def run(x):
            return fuse(x)


        def run_ops(g):
            return ops.make(g)
        """,
        engine__init="""
        try:
            import lib.comm as fi
        except ImportError:
            fi = None

        from . import ops
        """,
        engine__ops="""
        from . import fi


        def make(g):
            return fi.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
        """,
        engine__layers__init="",
        engine__layers__norm="""
        from .. import (
            ops,
            fi as kernels,
        )


        def fuse(x):
            return kernels.fuse(x, ops, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "all_that_a_module_has_and_that_one_from_another",
        """
        import package
        from package import create as made


        def run(g):
            return made(1, 0, group=g)  #! DW101 group 0.1.0 raises


        def run_attribute(x):
            return package.comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_wrapper(g):
            return package.make(group=g)  #! DW101 group 0.1.0 raises
        """,
        package__init="""
        from .core import *
        """,
        package__core="""
        from .kernels import *
        """,
        package__kernels="""
        import lib.comm as comm
        from lib.comm import create


        def make(**options):
            return comm.create(1, 0, **options)
        """,
    ),
    marked(
        "classes_within_classes",
        """
        import lib.comm as comm


        class Fusion:
            class Workspace:
                @staticmethod
                def make(g):
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises

                class Deep:
                    def run(self, x):
                        return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(g):
            return Fusion.Workspace.make(g)


        def run_deep(x):
            return Fusion.Workspace.Deep().run(x)
        """,
    ),
    marked(
        "members_of_the_library_s_class",
        """
        import lib.comm as comm


        class Counted:
            made = 0


        class Own(Counted, comm.Ring):
            def suspend(self):
                return self.checkpoint()  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW102 path 0.2.0.post1 raises

            def own(self):
                return self.made


        class Below(Own):
            pass


        def run(x):
            return Own(x).suspend()


        def run_outside(x):
            return Own(x).checkpoint(x)  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW103 checkpoint 0.2.0 raises


        def run_below(x):
            return Below(x).checkpoint(x)  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW103 checkpoint 0.2.0 raises


        def run_own(x):
            return Own(x).own()
        """,
    ),
    marked(
        "members_that_a_subclass_or_somebody_else_brings",
        """
        import lib.comm as comm


        class Own(comm.Workspace):
            def suspend(self):
                return self.checkpoint()

            def label(self):
                return self.title


        class Mine(Own):
            def checkpoint(self):
                return 1


        def run(x):
            return Mine(x).suspend()


        def run_set(x):
            own = Own(x)
            own.title = "a"
            return own.label()
        """,
    ),
    marked(
        "a_dict_that_a_caller_passes_is_spread",
        """
        from core import Ops, build, relay


        def run(g):
            return build(1, {"rank": 0, "group": g})


        def run_none():
            return build(1)


        def run_list(x):
            return Ops().fuse([x, 1], dict(early=True))


        def run_variable(g):
            options = {"group": g}
            options["rank"] = 0
            return relay(options)


        def run_own(g):
            options = {"rank": 0}
            build(1, options)
            options["group"] = g
            return Ops.make(options)
        """,
        core="""
        import lib.comm as comm


        def build(n, extra=None):
            return comm.create(n, **(extra or {}))  #! DW101 group 0.1.0 raises; DW102 rank 0.1.0 to 0.10.0 raises


        def relay(options):
            return build(1, options)


        class Ops:
            def fuse(self, args, kwargs: dict):
                return comm.fuse(*args, **kwargs)  #! DW101 early 0.1.0 raises

            @staticmethod
            def make(options):
                return comm.create(1, **options)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "an_instance_that_another_file_has_is_called",
        """
        import core
        from core import manager, get_manager


        def run(x):
            return manager.fuse(x, early=True)  #! DW101 early 0.1.0 raises


        def run_getter(x):
            return get_manager().fuse(x, early=True)  #! DW101 early 0.1.0 raises


        def run_attribute(x):
            return core.manager.fuse(x, early=True)  #! DW101 early 0.1.0 raises
        """,
        core="""
        import lib.comm as comm


        class Manager:
            def fuse(self, x, **options):
                return comm.fuse(x, 1, **options)


        manager = Manager()


        def get_manager():
            return manager
        """,
    ),
    marked(
        "what_a_base_class_asks_of_its_subclasses",
        """
        import abc
        import lib.comm as comm


        class Base(abc.ABC):
            FIXED = {}

            @abc.abstractmethod
            def options(self): ...

            def fn(self):
                return comm.gather if hasattr(comm, "gather") else None

            def fuse(self, x):
                return comm.fuse(x, 1, **self.options())  #! DW101 early 0.1.0 raises; DW101 nope 0.1.0 to 0.10.0 raises

            def create(self):
                return comm.create(1, 0, **self.FIXED)  #! DW101 group 0.1.0 raises

            def call(self, x):
                return self.fn()(x, axis=0)  #! DW101 axis 0.1.0 raises

            def __call__(self, x):
                return self.fuse(x)


        class Early(Base):
            FIXED = {"group": None}

            def options(self):
                return {"early": True}


        class Nope(Early):
            FIXED = {}

            def options(self):
                return {"nope": 1}


        class Plain(Base):
            def options(self):
                return {}

            def fn(self):
                return comm.gather if hasattr(comm, "gather") else comm.legacy


        def run(x):
            return Early()(x)


        def run_nope(x):
            return Nope().fuse(x)


        def run_group(x):
            return Early().create()


        def run_plain(x):
            return Plain().call(x)
        """,
    ),
    marked(
        "a_hook_that_another_file_fills_in",
        """
        from layers import Mine, Theirs


        def run(x):
            return Mine().forward(x)


        def run_theirs(x):
            return Theirs().forward(x)
        """,
        layers__init="""
        from .base import Base
        from .mine import Mine, Theirs
        """,
        layers__base="""
        import lib.comm as comm


        class Base:
            def _options(self):
                return {}

            def forward(self, x):
                return comm.fuse(x, 1, **self._options())  #! DW101 early 0.1.0 raises; DW101 bias 0.1.0 to 0.2.0 raises
        """,
        layers__mine="""
        from layers import Base


        class Mine(Base):
            def _options(self):
                return {**super()._options(), "early": True}


        class Theirs(Mine):
            def _options(self):
                return {"bias": 1.0}
        """,
    ),
)
