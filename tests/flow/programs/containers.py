"""Dicts and lists that functions fill for one another, that are copied, cut and put together."""

from __future__ import annotations

from tests.flow.marked import marked

CONTAINERS = (
    marked(
        "filled_by_functions",
        """
        import lib.comm as comm
        from other import fill_there


        def _fill(kw):
            kw["world_size"] = 1
            kw["rank"] = 0


        def public_fill(kw, rank):
            kw.update(world_size=1)
            kw.setdefault("rank", rank)


        def _through(kw, rank):
            public_fill(kw, rank)


        def _put(kw, key, value):
            kw[key] = value


        def run_items():
            kw = {}
            _fill(kw)
            return comm.create(**kw)


        def run_methods(r):
            kw = {}
            public_fill(kw, r)
            return comm.create(**kw)


        def run_through(r):
            kw = {}
            _through(kw, r)
            return comm.create(**kw)


        def run_elsewhere():
            kw = {}
            fill_there(kw)
            return comm.create(**kw)


        def run_one_by_one():
            kw = {}
            _put(kw, "world_size", 1)
            _put(kw, "rank", 0)
            return comm.create(**kw)


        def run_with_one_too_many(g):
            kw = {"world_size": 1, "rank": 0}
            _put(kw, "group", g)
            return comm.create(**kw)  #! DW101 group 0.1.0 raises
        """,
        other="""
        def fill_there(kw):
            kw["world_size"] = 1
            kw["rank"] = 0
        """,
    ),
    marked(
        "emptied_by_functions",
        """
        import logging

        import lib.comm as comm
        from other import strip_there

        logger = logging.getLogger(__name__)


        def _strip(kw):
            kw.pop("group", None)


        def _cut(kw):
            if "group" in kw:
                del kw["group"]


        def run(g):
            kw = {"world_size": 1, "rank": 0, "group": g}
            _strip(kw)
            return comm.create(**kw)


        def run_cut(g):
            kw = {"world_size": 1, "rank": 0, "group": g}
            _cut(kw)
            return comm.create(**kw)


        def run_elsewhere(g):
            kw = {"world_size": 1, "rank": 0, "group": g}
            strip_there(kw)
            return comm.create(**kw)


        def run_untouched(g):
            kw = {"world_size": 1, "rank": 0, "group": g}
            logger.debug("%d options: %s", len(kw), kw)
            return comm.create(**kw)  #! DW101 group 0.1.0 raises
        """,
        other="""
        def strip_there(kw):
            kw.pop("group", None)
        """,
    ),
    marked(
        "lists_filled_by_functions",
        """
        import lib.comm as comm


        def add(args, value):
            args.append(value)


        def more(args, *values):
            args += values


        def run():
            args = []
            add(args, 1)
            add(args, 0)
            return comm.create(*args)


        def run_more():
            args = []
            more(args, 1, 0)
            return comm.create(*args)


        def run_one_too_many(g):
            args = [1, 0]
            add(args, g)
            return comm.create(*args)  #! DW103 create 0.1.0, 0.10.0 raises
        """,
    ),
    marked(
        "handed_to_what_is_not_followed",
        """
        import lib.comm as comm


        def use(fill, g):
            kw = {}
            fill(kw)
            return comm.create(**kw)  #? `lib.comm.create` is called with `**` of unknown content


        def use_list(fill):
            args = [1, 0, 2]
            fill(args)
            return comm.create(*args)  #? `lib.comm.create` is called with `*` of unknown content


        def recursive(kw, n):
            if n:
                kw["rank"] = n
                recursive(kw, n - 1)
            return kw


        def use_recursive(n):
            kw = {"world_size": 1, "rank": 0}
            recursive(kw, n)
            return comm.create(**kw)  #? `lib.comm.create` is called with `**` of unknown content
        """,
        runs=False,
    ),
    marked(
        "a_builder_of_arguments",
        """
        import lib.comm as comm


        class Builder:
            def __init__(self):
                self.kw = {}

            def add(self, key, value):
                self.kw[key] = value
                return self


        def use(key):
            built = Builder().add(key, 1)
            return comm.create(**built.kw)  #? `lib.comm.create` is called with `**` of unknown content
        """,
        runs=False,
    ),
    marked(
        "copies",
        """
        import copy

        import lib.comm as comm


        def run_copy(g):
            base = {"world_size": 1, "rank": 0}
            mine = copy.copy(base)
            mine["group"] = g
            comm.create(**base)
            return comm.create(**mine)  #! DW101 group 0.1.0 raises


        def run_deep(g):
            base = {"options": {"world_size": 1, "rank": 0}}
            mine = copy.deepcopy(base)
            mine["options"]["group"] = g
            comm.create(**base["options"])
            return comm.create(**mine["options"])  #! DW101 group 0.1.0 raises


        def run_shallow(g):
            base = {"options": {"world_size": 1, "rank": 0}}
            mine = copy.copy(base)
            mine["options"]["group"] = g
            return comm.create(**base["options"])  #! DW101 group 0.1.0 raises


        def run_lists(g):
            base = [1, 0]
            for more in (base.copy(), list(base), base[:], copy.copy(base)):
                more.append(g)
                comm.create(*more)  #! DW103 create 0.1.0, 0.10.0 raises
            return comm.create(*base)
        """,
    ),
    marked(
        "lists_cut_and_put_together",
        """
        import lib.comm as comm


        def run_pop(g):
            args = [1, 0, g]
            last = args.pop()
            comm.create(*args)
            args.append(last)
            return comm.create(*args)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_del(g):
            args = [g, 1, 0]
            del args[0]
            return comm.create(*args)


        def run_remove():
            args = [1, 0, 2]
            args.remove(2)
            return comm.create(*args)


        def run_insert(g):
            args = [1, 0]
            args.insert(1, g)
            return comm.create(*args)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_slices(g):
            args = [1, 0, g]
            comm.create(*args[:2])
            comm.create(*args[:-1])
            args[1:] = [0]
            comm.create(*args)
            args[:] = []
            args += [1, 0]
            return comm.create(*args)


        def run_somewhere(i):
            args = [1, 0, 2]
            args.pop(0 if i else 1)
            return comm.create(*args)


        def run_where_there_is_more(g):
            args = [1, 0]
            if hasattr(comm, "gather"):
                args.append(g)
                args.pop()
            else:
                args.insert(0, g)
                del args[:1]
            return comm.create(*reversed(args))


        def run_repeated():
            args = [0] * 2
            args[0] = 1
            return comm.create(*args)
        """,
    ),
    marked(
        "lists_that_are_made_are_lists",
        """
        import lib
        import lib.comm as comm


        def run_comprehension(g):
            args = [n for n in (1, 0)]
            comm.create(*args)
            args.append(g)
            return comm.create(*args)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_list(g):
            args = list((1, 0))
            args.append(g)
            return comm.create(*args)  #! DW103 create 0.1.0, 0.10.0 raises


        def run_version_as_list(x):
            if [int(part) for part in lib.__version__.split(".")[:2]] >= [0, 2]:
                return comm.gather(x, axis=0)
            return comm.legacy(x)


        def run_version_as_tuple(x):
            if tuple([int(part) for part in lib.__version__.split(".")[:2]]) >= (0, 2):
                return comm.gather(x, axis=0)
            return comm.legacy(x)


        def run_first_parts(x):
            parts = [int(part) for part in lib.__version__.split(".")[:2]]
            if parts[0] > 0 or parts[1] >= 2:
                return comm.gather(x, axis=0)
            return comm.legacy(x)
        """,
    ),
    marked(
        "dicts_made_of_other_things",
        """
        from collections import ChainMap, OrderedDict

        import lib.comm as comm


        def run_zip(g):
            comm.create(**dict(zip(("world_size", "rank"), (1, 0))))
            return comm.create(**dict(zip(("world_size", "rank", "group"), (1, 0, g))))  #! DW101 group 0.1.0 raises


        def run_keys():
            comm.create(**dict.fromkeys(("world_size", "rank"), 1))
            return comm.create(**dict.fromkeys(["world_size", "rank", "group"]))  #! DW101 group 0.1.0 raises


        def run_pairs(g):
            kw = dict([("world_size", 1), ("rank", 0)])
            comm.create(**kw)
            kw.update([("group", g)])
            return comm.create(**kw)  #! DW101 group 0.1.0 raises


        def run_chain(g):
            comm.create(**ChainMap({"rank": 0}, {"rank": 1, "world_size": 1}))
            return comm.create(**ChainMap({"rank": 0}, {"group": g, "world_size": 1}))  #! DW101 group 0.1.0 raises


        def run_ordered(g):
            kw = OrderedDict(world_size=1)
            kw["rank"] = 0
            kw.move_to_end("world_size")
            comm.create(**kw)
            kw["group"] = g
            return comm.create(**kw)  #! DW101 group 0.1.0 raises
        """,
    ),
)
