"""Instances and classes: the library's through attributes and returns, the code base's own, subclasses, patches."""

from __future__ import annotations

from tests.flow.marked import marked

OBJECTS = (
    marked(
        "what_is_an_instance_of_another_class_is_none_of_the_librarys",
        """
        import re

        from lib.comm import create


        class Own:
            def only_own(self):
                return 1


        def run(g):
            ws = create(1, 0) if g else g
            if isinstance(ws, re.Pattern):
                return ws.match("x")
            if isinstance(ws, Own):
                return ws.only_own()
            return ws.close(now=True)  #! DW203 close 0.1.0 to 0.2.0 raises; DW101 now 0.2.0.post1 raises
        """,
    ),
    marked(
        "attribute_of_self",
        """
        from lib.comm import create


        class Layer:
            def __init__(self, g):
                self.ws = create(1, 0)

            def forward(self):
                return self.ws.close(now=True)  #! DW203 close 0.1.0 to 0.2.0 raises; DW101 now 0.2.0.post1 raises


        def run(g):
            return Layer(g).forward()
        """,
    ),
    marked(
        "attribute_that_is_none_where_the_guard_fails",
        """
        import lib.comm as comm


        class Layer:
            def __init__(self):
                self.gather = comm.gather if hasattr(comm, "gather") else None

            def forward(self, x):
                if self.gather is None:
                    return x
                return self.gather(x, 0)  #! DW102 axis 0.10.0 raises


        def run(x):
            return Layer().forward(x)
        """,
    ),
    marked(
        "class_and_static_methods",
        """
        import lib.comm as comm


        class Maker:
            @classmethod
            def make(cls, **kwargs):
                return cls.build(**kwargs)

            @staticmethod
            def build(**kwargs):
                return comm.create(1, 0, **kwargs)


        def run(g):
            return Maker.make(group=g)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "property_gives_the_library",
        """
        import lib.comm as comm


        class Holder:
            @property
            def comm(self):
                return comm

            def call(self, x):
                return self.comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        def run(x):
            return Holder().call(x)
        """,
    ),
    marked(
        "inherited_method",
        """
        import lib.comm as comm


        class Base:
            def make(self, **kwargs):
                return comm.create(1, 0, **kwargs)


        class Derived(Base):
            def make(self, **kwargs):
                return super().make(**kwargs)


        def run(g):
            return Derived().make(group=g)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "conditional_class",
        """
        import lib.comm as comm

        if hasattr(comm, "gather"):

            class Op:
                def call(self, x):
                    return comm.gather(x, axis=0)

        else:

            class Op:
                def call(self, x):
                    return comm.legacy(x)


        def run(x):
            return Op().call(x)
        """,
    ),
    marked(
        "subclass_that_lacks_methods",
        """
        from lib.comm import Backend


        class Mine(Backend):
            def rank(self):
                return 0

            def size(self):
                return 1


        def run():
            return Mine()  #! DW302 Backend 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "subclass_that_has_all",
        """
        from lib.comm import Backend


        class Mine(Backend):
            def rank(self):
                return 0

            def size(self):
                return 1

            def split(self):
                return self


        def run():
            return Mine()
        """,
    ),
    marked(
        "instance_of_the_base_has_the_members_of_its_subclasses",
        """
        from lib.comm import create


        def run():
            return create(1, 0).checkpoint  #! DW203 checkpoint 0.1.0, 0.10.0 raises
        """,
        runs=False,
    ),
    marked(
        "annotated_parameter",
        """
        from __future__ import annotations

        from lib.comm import Ring


        def use(ring: Ring | None):
            if ring is None:
                return None
            return ring.checkpoint()  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW102 path 0.2.0.post1 raises
        """,
        runs=False,
    ),
    marked(
        "unbound_method",
        """
        from lib.comm import Workspace


        def run():
            return Workspace.fits(Workspace(1), 1, 2, 3)  #! DW103 fits 0.1.0 to 0.10.0 raises
        """,
    ),
    marked(
        "assignment_patches",
        """
        import lib.comm as comm


        def mine(x):
            return x


        def run(x):
            comm.fuse = mine
            return x
        """,
        runs=False,
    ),
    marked(
        "monkeypatch_and_mock_of_a_test",
        """
        from unittest import mock

        import lib.comm


        def test_patch(monkeypatch, mocker):
            monkeypatch.setattr("lib.comm.legacy", None)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            monkeypatch.setattr(lib.comm, "gather", None)  #! DW201 gather 0.1.0 raises
            monkeypatch.setattr(lib.comm, "gather", None, raising=False)
            mocker.patch("lib.comm.legacy")  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            mocker.patch.object(lib.comm, "legacy")  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            mocker.patch("lib.comm.legacy", create=True)


        @mock.patch("lib.comm.legacy")  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        def test_decorated(legacy):
            return lib.comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "patches_that_require_the_name",
        """
        from unittest import mock

        import lib.comm
        import pytest


        def run_with():
            with mock.patch("lib.comm.legacy"):  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
                return 1


        def run_created():
            with mock.patch("lib.comm.legacy", create=True):
                return 1


        def run_not_created():
            with mock.patch("lib.comm.legacy", create=False):  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
                return 1


        def run_object():
            with mock.patch.object(lib.comm, "gather"):  #! DW201 gather 0.1.0 raises
                return 1


        def run_guarded():
            try:
                with mock.patch.object(lib.comm, "gather"):  #! DW201 gather 0.1.0 guarded@31
                    lib.comm.legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@31
            except AttributeError:
                return 0


        def run_monkeypatch():
            patch = pytest.MonkeyPatch()
            try:
                patch.setattr("lib.comm.legacy", 1)  #! DW201 legacy 0.2.0.post1 to 0.10.0 silent@40
                return lib.comm.legacy
            except Exception:
                return 0
            finally:
                patch.undo()


        def run_not_raising():
            patch = pytest.MonkeyPatch()
            patch.setattr(lib.comm, "gather", 1, raising=False)
            patch.undo()


        def run_module():
            with mock.patch("lib.comm.extra.deep", create=True):  #! DW202 extra 0.1.0 to 0.2.0 raises
                return 1
        """,
    ),
    marked(
        "super_of_a_method_that_the_base_lacks",
        """
        from lib.comm import Workspace


        class Own(Workspace):
            def __init__(self):
                super().__init__(1)

            def close(self):
                return super().close()  #! DW203 close 0.1.0 to 0.2.0 raises

            def fits(self, tokens):
                return super().fits(tokens, 1)


        class _Further(Own):
            def close(self):
                return super().close()


        def run():
            return Own().close()


        def run_fits():
            return Own().fits(1)


        def run_further():
            return _Further().close()
        """,
    ),
    marked(
        "super_where_another_class_may_come_between",
        """
        from elsewhere import Mixin
        from lib.comm import Workspace


        class Own(Mixin, Workspace):
            def close(self):
                return super().close()


        class Closing:
            def close(self):
                return 1


        class Mine(Closing, Workspace):
            def close(self):
                return super().close()


        class Empty:
            pass


        class Bare(Empty, Workspace):
            def close(self):
                return super().close()  #! DW203 close 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "dataclass_field",
        """
        from dataclasses import dataclass

        from lib.comm import Ring


        @dataclass
        class Holder:
            ring: Ring

            def save(self):
                return self.ring.checkpoint(1)  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW103 checkpoint 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "attribute_set_by_another_method",
        """
        import lib.comm as comm


        class Layer:
            def __init__(self):
                self.make = None

            def setup(self):
                self.make = comm.create

            def run(self, g):
                if self.make is not None:
                    return self.make(1, 0, group=g)  #! DW101 group 0.1.0 raises
                return None


        def run(g):
            layer = Layer()
            layer.setup()
            return layer.run(g)
        """,
    ),
    marked(
        "class_constant_and_the_class_itself",
        """
        import lib.comm as comm


        class Layer:
            MAKE = staticmethod(comm.create)
            OPTIONS = {"group": None}

            def run(self):
                return type(self).MAKE(1, 0, **self.OPTIONS)


        def run_method():
            return Layer().run()


        def run():
            return Layer.MAKE(1, 0, **Layer.OPTIONS)  #! DW101 group 0.1.0 raises
        """.replace("**self.OPTIONS)", "**self.OPTIONS)  #! DW101 group 0.1.0 raises"),
    ),
    marked(
        "property_of_a_flag",
        """
        import lib.comm as comm


        class Layer:
            @property
            def available(self):
                return hasattr(comm, "legacy")

            def call(self, x):
                if not self.available:
                    return x
                return comm.legacy(x)


        def run(x):
            return Layer().call(x)
        """,
    ),
    marked(
        "constructor_that_raises_where_the_name_is_missing",
        """
        import lib.comm as comm


        class Layer:
            def __init__(self):
                if not hasattr(comm, "legacy"):
                    raise RuntimeError("needs an old lib")

            def call(self, x):
                return comm.legacy(x)


        def run(x):
            return Layer().call(x)
        """,
    ),
)
