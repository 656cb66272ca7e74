"""What a function does with the library that its callers in other files decide."""

from __future__ import annotations

from tests.flow.marked import marked

TOLD_BY_CALLERS = (
    marked(
        "told_by_callers_config_function",
        """
        from config import Config
        from launch import launch


        def run(x):
            return launch(Config(group=x))


        def run_plain():
            return launch(Config())
        """,
        config="""
        class Config:
            def __init__(self, group=None):
                self.group = group

            def options(self):
                options = {}
                if self.group is not None:
                    options["group"] = self.group
                return options
        """,
        launch="""
        import lib.comm as comm


        def launch(config):
            options = config.options()
            make = comm.create
            make(1, 2, **options)  #! DW101 group 0.1.0 raises; ? `lib.comm.create` is called with `**` of unknown content
        """,  # noqa: E501
    ),
    marked(
        "told_by_callers_config_attribute",
        """
        from dataclasses import dataclass, field
        from launch import Launcher


        @dataclass
        class Config:
            options: dict = field(default_factory=dict)


        def run(x):
            return Launcher(Config({"early": True})).fuse(x)


        def run_plain(x):
            return Launcher(Config()).fuse(x)
        """,
        launch="""
        import lib.comm as comm


        class Launcher:
            def __init__(self, config):
                self.config = config

            def fuse(self, x):
                fuse = comm.fuse
                fuse(x, 1, **self.config.options)  #! DW101 early 0.1.0 raises; ? `lib.comm.fuse` is called with `**` of unknown content
        """,  # noqa: E501
    ),
    marked(
        "told_by_callers_config_args_list",
        """
        from launch import launch


        def run(x):
            return launch([x, 1, None, True])


        def run_few(x):
            return launch([x, 1])
        """,
        launch="""
        import lib.comm as comm


        def launch(args):
            return comm.fuse(*args)  #! DW103 fuse 0.1.0 to 0.2.0 raises; DW104 early 0.1.0 to 0.2.0
        """,
    ),
    marked(
        "told_by_callers_options_by_name",
        """
        from launch import launch

        OPTIONS = {"new": {"early": True}, "old": {}}


        def run(x):
            return launch(x, OPTIONS["new"])


        def run_old(x):
            return launch(x, OPTIONS["old"])
        """,
        launch="""
        import lib.comm as comm


        def launch(x, options=None):
            return comm.fuse(x, 1, **(options or {}))  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "told_by_callers_ret_none",
        """
        import lib.comm as comm


        def _items(n, group):
            kw = {"world_size": n, "rank": 0}
            if group is not None:
                kw["group"] = group
            return kw


        def run_none():
            return comm.create(**_items(2, None))
        """,
    ),
    marked(
        "told_by_callers_ret_none_pub",
        """
        import lib.comm as comm


        def items(n, group=None):
            kw = {"world_size": n, "rank": 0}
            if group is not None:
                kw["group"] = group
            return kw


        def run_none():
            return comm.create(**items(2))
        """,
    ),
    marked(
        "told_by_callers_pairs",
        """
        import lib.comm as comm


        def _base(n):
            yield "world_size", n
            yield "rank", 0


        def _items(n, group):
            yield from _base(n)
            if group is not None:
                yield "group", group


        def run(group):
            return comm.create(**dict(_items(2, group)))  #! DW101 group 0.1.0 raises


        def run_none():
            return comm.create(**dict(_items(2, None)))
        """,
    ),
)
