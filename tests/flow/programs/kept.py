"""What functions keep for one another: in dicts under keys that are not known, and in dicts that others change."""

from __future__ import annotations

from tests.flow.marked import marked

KEPT = (
    marked(
        "kept_under_an_unknown_key_where_the_name_exists",
        """
        import lib.comm as comm

        TABLE = {}


        def run_fill(key):
            if hasattr(comm, "gather"):
                TABLE[key] = comm.gather


        def run_use(key):
            if key in TABLE:
                comm.gather(1, axis=2)
                return TABLE[key](1, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises
            return None
        """,
    ),
    marked(
        "kept_by_a_function_that_comes_later",
        """
        import lib.comm as comm

        TABLE = {}


        def run_nothing(key):
            fn = TABLE.get(key)
            if fn:
                return comm.gather(1, axis=2)
            return None


        def run_fill(key):
            TABLE.setdefault(key, getattr(comm, "gather", None))


        def run_use(key):
            fn = TABLE.get(key)
            if fn is None:
                return None
            comm.gather(1, axis=2)
            return fn(1, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises
        """,
    ),
    marked(
        "kept_or_none",
        """
        import lib.comm as comm

        TABLE = {}


        def _made():
            try:
                from lib.comm.extra import deep  #! DW202 extra 0.1.0 to 0.2.0 guarded@9
            except ImportError:
                return None
            return deep


        def run(key):
            if key not in TABLE:
                TABLE[key] = _made()
            made = TABLE[key]
            if made is None:
                return None
            from lib.comm.extra import deep
            return made(1, 2, c=3)  #! DW101 c 0.2.0.post1 raises
        """,
    ),
    marked(
        "kept_and_gone_through",
        """
        import lib.comm as comm

        TABLE = {}


        def run_fill(key):
            if hasattr(comm, "legacy"):
                TABLE[key] = comm.legacy


        def run_use():
            for each in TABLE.values():
                comm.legacy(1)
                each(1, 2)  #! DW103 legacy 0.1.0 to 0.2.0 raises


        def run_pairs():
            for _, each in TABLE.items():
                return each(1, 2)  #! DW103 legacy 0.1.0 to 0.2.0 raises


        def run_keys():
            return [comm.legacy(1) for _ in TABLE]


        def run_test():
            if not TABLE:
                return None
            return comm.legacy(1)
        """,
    ),
    marked(
        "kept_in_an_attribute",
        """
        import lib.comm as comm


        class Shelf:
            def __init__(self):
                self.kept = {}

            def fill(self, key):
                if hasattr(comm, "gather"):
                    self.kept[key] = comm.gather

            def use(self, key):
                if key in self.kept:
                    comm.gather(1, axis=2)
                    return self.kept[key](1, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises
                return None


        SHELF = Shelf()


        def run_fill(key):
            SHELF.fill(key)


        def run_use(key):
            return SHELF.use(key)
        """,
    ),
    marked(
        "kept_partial",
        """
        import functools
        import lib.comm as comm

        TABLE = {}


        def run_fill(key):
            TABLE[key] = functools.partial(comm.create, group=None)  #! DW101 group 0.1.0 raises


        def run_use(key):
            return TABLE[key](1, 2)
        """,
    ),
    marked(
        "options_that_another_module_changes",
        """
        import other


        def run(g):
            other.OPTIONS["group"] = g
            return other.make()
        """,
        runs=False,
        other="""
        import lib.comm as comm

        OPTIONS = {}


        def make():
            return comm.create(1, 2, **OPTIONS)  #! DW101 group 0.1.0 raises; ? `lib.comm.create` is called with `**` of unknown content
        """,  # noqa: E501
    ),
    marked(
        "options_that_another_module_imports_and_changes",
        """
        from other import OPTIONS as ours, make


        def run(g):
            ours.update(group=g)
            return make()
        """,
        runs=False,
        other="""
        import lib.comm as comm

        OPTIONS = {}


        def make():
            return comm.create(1, 2, **OPTIONS)  #! DW101 group 0.1.0 raises; ? `lib.comm.create` is called with `**` of unknown content
        """,  # noqa: E501
    ),
    marked(
        "options_that_nobody_changes",
        """
        from other import OPTIONS, make


        def run():
            len(OPTIONS)
            return make()
        """,
        other="""
        import lib.comm as comm

        OPTIONS = {"group": None}


        def make():
            return comm.create(1, 2, **OPTIONS)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "options_of_the_caller_are_asked_for",
        """
        import lib.comm as comm


        def run_in(x, **options):
            if "legacy" in options:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            return None


        def run_any(x, **options):
            if options:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            return None


        def run_get(x, **options):
            if options.get("legacy"):
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            return None


        def run_private(x):
            return _of(x, other=1)


        def _of(x, **options):
            if "legacy" in options:
                return comm.legacy(x)
            return None
        """,
        runs=False,
    ),
    marked(
        "a_guard_in_a_dict_of_the_class",
        """
        import lib.comm as comm


        class Has:
            names = {}

            @classmethod
            def look(cls):
                cls.names["gather"] = hasattr(comm, "gather")
                cls.names["legacy"] = hasattr(comm, "legacy")


        def run(x):
            Has.look()
            if Has.names["gather"]:
                return comm.gather(x, axis=0)
            if Has.names.get("legacy"):
                return comm.legacy(x)


        def run_the_wrong_way(x):
            Has.look()
            if Has.names["gather"]:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "a_dict_of_the_class_that_instances_fill",
        """
        import lib.comm as comm


        class Fusion:
            options = {}

            def prepare(self):
                self.options["early"] = True

            def reduce(self, x):
                return comm.fuse(x, 1, **self.options)  #! DW101 early 0.1.0 raises


        def run(x):
            fusion = Fusion()
            fusion.prepare()
            return fusion.reduce(x)
        """,
    ),
    marked(
        "a_dict_of_the_class_that_anyone_fills",
        """
        import lib.comm as comm


        class Has:
            names = {}

            @classmethod
            def look(cls):
                cls.names["gather"] = hasattr(comm, "gather")


        def hold():
            Has.names["gather"] = True


        def use(x):
            if Has.names["gather"]:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
)
