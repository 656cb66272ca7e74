"""Containers of the standard library, and what a module puts into its own before anybody calls it."""

from __future__ import annotations

from tests.flow.marked import marked

PUBLISHED = (
    marked(
        "filled_registry_same",
        """
        import lib.comm as comm

        _REGISTRY = {}


        def register(name):
            def add(fn):
                _REGISTRY[name] = fn
                return fn

            return add


        register("fuse")(comm.fuse)


        def get(name):
            return _REGISTRY[name]


        def run(x):
            return get("fuse")(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "filled_default_dict",
        """
        from collections import defaultdict
        import lib.comm as comm

        OPTIONS = defaultdict(dict)
        OPTIONS["create"]["group"] = None


        def run(x):
            return comm.create(1, 2, **OPTIONS["create"])  #! DW101 group 0.1.0 raises


        def run_other(x):
            by_op = defaultdict(list)
            by_op["a"].append(comm.fuse)
            by_op["b"].append(comm.create)
            for op in by_op["a"]:
                op(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_empty(x):
            return comm.create(1, 2, **defaultdict(dict)["nothing"])
        """,
    ),
    marked(
        "filled_queues",
        """
        from collections import deque
        import lib.comm as comm


        def run(x):
            waiting = deque([comm.create])
            waiting.appendleft(comm.fuse)
            first = waiting.popleft()
            first(x, 1, early=True)  #! DW101 early 0.1.0 raises
            return waiting.pop()(1, 2, group=x)  #! DW101 group 0.1.0 raises


        def run_append(x):
            waiting = deque()
            waiting.append((comm.fuse, {"bias": 1}))
            while waiting:
                op, kw = waiting.popleft()
                op(x, 1, **kw)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "filled_counted",
        """
        from collections import Counter
        import lib.comm as comm


        def run(x):
            seen = Counter()
            seen["fuse"] += 1
            if seen["fuse"]:
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "filled_filled_at_module_level",
        """
        import lib.comm as comm

        OPTIONS = {}
        OPTIONS["group"] = None
        EXTRA = dict(output=None)
        EXTRA.update(early=True)
        ARGS = [1]
        ARGS.append(2)
        ARGS += [None]


        def run(x):
            return comm.create(1, 2, **OPTIONS)  #! DW101 group 0.1.0 raises


        def run_extra(x):
            return comm.fuse(x, 1, **EXTRA)  #! DW101 early 0.1.0 raises


        def run_args(x):
            return comm.legacy(*ARGS)  #! DW103 legacy 0.1.0 to 0.2.0 raises; DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "filled_filled_at_module_level_in_a_loop",
        """
        import lib.comm as comm

        OPTIONS = {}
        for name in ("early", "output"):
            OPTIONS[name] = None


        def run(x):
            return comm.fuse(x, 1, **OPTIONS)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "filled_set_by_name_at_module_level",
        """
        import lib.comm as comm


        class Ops:
            pass


        OPS = Ops()
        for _name in ("fuse", "gather"):
            setattr(OPS, _name, getattr(comm, _name, None))


        def run(x):
            if OPS.gather is not None:
                return OPS.gather(x, axis=1)
            return OPS.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "filled_version_of_a_feature",
        """
        from versions import enabled
        import lib.comm as comm


        def run(x):
            if enabled("group"):
                return comm.create(1, 2, group=x)
            return comm.create(1, 2)


        def run_other(x):
            if enabled("nothing"):
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
            return comm.fuse(x, 1)
        """,
        versions="""
        from importlib.metadata import version

        from packaging.version import Version

        SINCE = {"nothing": "0.0.1", "group": "0.2.0"}


        def enabled(feature):
            return Version(version("lib-dist")) >= Version(SINCE[feature])
        """,
    ),
)
