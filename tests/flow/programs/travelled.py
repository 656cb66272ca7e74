"""Flags, keywords and functions that have come a long way before they meet the library."""

from __future__ import annotations

from tests.flow.marked import marked

TRAVELLED = (
    marked(
        "function_that_a_decorator_puts_into_a_table",
        """
        import lib.comm as comm

        _TABLE = {}


        def _register(name):
            def decorator(function):
                _TABLE[name] = function
                return function

            return decorator


        @_register("a")
        def _entry():
            return comm.fuse(None, 1, early=True)  #! DW101 early 0.1.0 silent@22


        def run():
            try:
                return _TABLE["a"]()
            except Exception:
                return None
        """,
    ),
    marked(
        "function_that_a_guarded_caller_takes_out_of_a_table",
        """
        import lib.comm as comm
        from features import EARLY

        _TABLE = {}


        def _register(name):
            def decorator(function):
                _TABLE[name] = function
                return function

            return decorator


        @_register("a")
        def _entry():
            return comm.fuse(None, 1, early=True)


        def run():
            if EARLY:
                return _TABLE["a"]()
        """,
        features="""
        import inspect

        import lib.comm as comm

        EARLY = "early" in inspect.signature(comm.fuse).parameters
        """,
    ),
    marked(
        "flags_by_name",
        """
        import lib.comm as comm

        _FLAGS = {
            "gather": hasattr(comm, "gather"),
            "legacy": hasattr(comm, "legacy"),
        }


        def has(name):
            return _FLAGS.get(name, False)


        def has_surely(name):
            return _FLAGS[name]


        def run():
            if has("gather"):
                comm.gather(1, axis=0)
            if has("legacy"):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
            if has_surely("gather"):
                comm.gather(1, axis=0)


        def run_unknown(name):
            if has(name):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
    ),
    marked(
        "flags_in_a_list",
        """
        import lib.comm as comm

        _FLAGS = [hasattr(comm, "gather"), hasattr(comm, "legacy")]


        def _has(number):
            return _FLAGS[number]


        def run():
            if _has(0):
                comm.gather(1, axis=0)


        def ask(number):
            if _FLAGS[number]:
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
    ),
    marked(
        "version_that_another_file_takes_apart",
        """
        import lib.comm as comm
        from versions import at_least


        def run():
            if at_least(0, 2):
                comm.gather(1, axis=0)


        def run_wrong():
            if at_least(0, 1):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        versions="""
        from importlib.metadata import version


        def _parse(text):
            return tuple(int(part) for part in text.split(".")[:2])


        _INSTALLED = _parse(version("lib-dist"))


        def at_least(*wanted):
            return _INSTALLED >= wanted
        """,
    ),
    marked(
        "options_of_an_object_that_was_given_none",
        """
        import lib.comm as comm


        class Spec:
            def __init__(self, **options):
                self.options = options


        def run():
            mine, other = Spec(), Spec(nope=1)
            if hasattr(comm, "legacy"):
                return comm.legacy(**mine.options)  #! DW102 x 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "attribute_of_a_proxy_that_is_asked_for",
        """
        import importlib

        import lib.comm as comm


        class Wrapped:
            def __init__(self, inner):
                self._inner = inner

            def __getattr__(self, name):
                return getattr(self._inner, name)  #! DW201 gather 0.1.0 guarded@24


        class Loaded:
            def __init__(self, name):
                self._name = name

            def __getattr__(self, name):
                return getattr(importlib.import_module(self._name), name)  #! DW201 gather 0.1.0 guarded@38


        def run():
            wrapped = Wrapped(comm)
            if hasattr(wrapped, "gather"):
                return wrapped.gather(1, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises
            return None


        def run_default():
            wrapped = Wrapped(comm)
            gather = getattr(wrapped, "gather", None)
            if gather is not None:
                return gather(1, axis=0)


        def run_loaded():
            loaded = Loaded("lib.comm")
            if hasattr(loaded, "gather"):
                return loaded.gather(1, axis=0)
        """,
    ),
    marked(
        "flag_that_is_set_behind_what_fails",
        """
        import lib.comm as comm


        class Layer:
            def __init__(self):
                self.disabled = True
                try:
                    self.workspace = comm.create(1, 2, group=None)  #! DW101 group 0.1.0 silent@9
                except Exception:
                    return
                self.disabled = False

            def fuse(self):
                if self.disabled:
                    return None
                return comm.fuse(1, 2, bias=0.0)  #! DW101 bias 0.2.0 raises


        def run():
            return Layer().fuse()
        """,
    ),
    marked(
        "flag_that_is_set_behind_what_fails_and_after_it",
        """
        import lib.comm as comm


        class _Layer:
            def __init__(self):
                try:
                    self.workspace = comm.create(1, 2, group=None)  #! DW101 group 0.1.0 silent@9
                    self.enabled = True
                except Exception:
                    self.enabled = False

            def fuse(self):
                return comm.fuse(1, 2, bias=0.0) if self.enabled else None  #! DW101 bias 0.2.0 raises


        def run(layer: _Layer):
            layer = layer if isinstance(layer, _Layer) else _Layer()
            return layer.fuse()
        """,
    ),
    marked(
        "keywords_of_one_record_and_of_another",
        """
        import dataclasses

        import lib.comm as comm


        @dataclasses.dataclass
        class Options:
            mode: int = 0
            eager: bool | None = None

            def given(self):
                return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}


        class Spec:
            def __init__(self, eager=None):
                self.eager = eager

            def given(self):
                found = {}
                if self.eager is not None:
                    found["eager"] = self.eager
                return found


        def run():
            return comm.level(1, **Options().given())


        def run_eager():
            return comm.level(1, **Options(eager=True).given())  #! DW101 eager 0.1.0 to 0.2.0.post1 raises


        def run_spec():
            return comm.level(1, **Spec().given())


        def run_eager_spec():
            return comm.level(1, **Spec(eager=True).given())  #! DW101 eager 0.1.0 to 0.2.0.post1 raises
        """,
    ),
    marked(
        "keyword_that_comes_by_the_order_of_an_objects_classes",
        """
        import lib.comm as comm


        class _Base:
            def options(self, **kwargs):
                return kwargs


        class _WithGroup:
            def options(self, **kwargs):
                found = super().options(**kwargs)
                found["group"] = None
                return found


        class _Plain(_Base):
            def make(self):
                return comm.create(**self.options(world_size=2, rank=1))  #! DW101 group 0.1.0 raises


        class _Grouped(_WithGroup, _Plain):
            pass


        def run():
            return _Plain().make()


        def run_grouped():
            return _Grouped().make()
        """,
    ),
    marked(
        "members_of_an_enumeration_that_the_library_has",
        """
        import enum

        import lib.comm as comm


        class Feature(enum.Enum):
            GATHER = "gather"
            LEGACY = "legacy"


        AVAILABLE = frozenset(each for each in Feature if hasattr(comm, each.value))


        def run():
            if Feature.GATHER in AVAILABLE:
                comm.gather(1, axis=0)
            if Feature.LEGACY in AVAILABLE:
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
    marked(
        "what_an_unknown_choice_has_left",
        """
        import lib.comm as comm


        def _there(names):
            return {name for name in names if hasattr(comm, name)}


        def run(names):
            if "gather" in _there(names):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises may
        """,
    ),
    marked(
        "flags_of_a_class_by_name",
        """
        import lib.comm as comm


        class Features:
            GATHER = hasattr(comm, "gather")
            LEGACY = hasattr(comm, "legacy")

            @classmethod
            def require(cls, name):
                if not getattr(cls, name):
                    raise RuntimeError(name)


        def run():
            Features.require("GATHER")
            comm.gather(1, axis=0)


        def run_other():
            Features.require("LEGACY")
            comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
    marked(
        "object_that_stands_for_what_failed",
        """
        import lib.comm as comm

        _NOTHING = object()


        def _attempt(action):
            try:
                return action()
            except Exception:
                return _NOTHING


        def run():
            made = _attempt(lambda: comm.create(1, 2, group=None))  #! DW101 group 0.1.0 raises
            if made is _NOTHING:
                raise RuntimeError("nothing was made")
            return made


        def run_without():
            made = _attempt(lambda: comm.gather(1, axis=0))  #! DW201 gather 0.1.0 silent@9
            return None if made is _NOTHING else made
        """,
    ),
    marked(
        "lookup_in_a_loop_of_an_attempt",
        """
        import lib.comm as comm


        def run():
            try:
                while True:
                    return comm.gather  #! DW201 gather 0.1.0 guarded@8
            except Exception:
                return None
        """,
    ),
)
