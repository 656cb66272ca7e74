"""Attributes that are assigned on an object nobody can tell, and classes of which that decides whether one is made."""

from __future__ import annotations

from tests.flow.marked import marked

OUTSIDE = (
    marked(
        "an_attribute_that_another_object_gives_to_the_layers",
        """
        def moe():
            try:
                from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 guarded@4
            except ImportError:
                return None
            return deep


        class Moe:
            def __init__(self):
                self.fused = None
                self.anything = None
                self.guarded = None

            def forward(self, x):
                if self.fused is not None:
                    from lib.comm.extra import deep

                return x

            def always(self, x):
                if self.anything is not None:
                    from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 raises

                return x

            def guard(self, x):
                if self.guarded is None:
                    return x
                import lib.comm.extra

                return x


        class Model:
            def __init__(self, layers):
                self.layers = layers

            def configure(self):
                fused = moe()
                if fused is None:
                    return
                for layer in self.layers:
                    layer.fused = fused  #? `lib.comm.extra.deep` is kept in an attribute of an object that is not known

            def configure_any(self, value):
                for one in self.layers:
                    one.anything = value
                    one.guarded = moe()  #? `lib.comm.extra.deep` is kept in an attribute of an object that is not known


        def run(x):
            first = Moe()
            model = Model([first])
            model.configure()
            model.configure_any(1)
            first.always(x)
            first.guard(x)
            return first.forward(x)
        """,
        runs=False,
    ),
    marked(
        "a_class_that_is_made_only_behind_a_guard",
        """
        import importlib.util
        from dataclasses import dataclass

        HAS_EXTRA = importlib.util.find_spec("lib.comm.extra") is not None


        class Stream:
            pass


        class Sharded(Stream):
            pass


        class Other(Stream):
            pass


        def make(x):
            return Sharded() if HAS_EXTRA else Stream()


        def make_other(x):
            return Other()


        def use(stream: Stream, x):
            if isinstance(stream, Sharded):
                from lib.comm.extra import deep

            if isinstance(stream, Other):
                from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 raises

            return x


        def run(x):
            use(make(x), x)


        def run_other(x):
            use(make_other(x), x)
        """,
    ),
)
