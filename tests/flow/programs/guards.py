"""Tests that the snapshots answer exactly: names, signatures, versions, types; and what is learnt from each."""

from __future__ import annotations

from tests.flow.marked import marked

GUARDS = (
    marked(
        "hasattr",
        """
        import lib.comm as comm


        def run(x):
            if hasattr(comm, "legacy"):
                return comm.legacy(x)
            return comm.gather(x, axis=0)


        def run_early_return(x):
            if not hasattr(comm, "gather"):
                return None
            return comm.gather(x, 0)  #! DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "hasattr_in_a_flag_and_both_ways",
        """
        import lib.comm as comm

        NEW = hasattr(comm, "gather") and not hasattr(comm, "legacy")


        def run(x):
            if NEW:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            return comm.legacy(x)
        """,
    ),
    marked(
        "getattr_with_default",
        """
        import lib.comm as comm

        gather = getattr(comm, "gather", None)


        def run(x):
            if gather is None:
                return x
            return gather(x, 0)  #! DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "getattr_without_default",
        """
        import lib.comm as comm


        def run(x):
            return getattr(comm, "legacy")(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "getattr_by_unknown_name",
        """
        import lib.comm as comm


        def run(name):
            getattr(comm, name)  #? the library is asked for a name that is passed to `run`, which nothing here calls
        """,
        runs=False,
    ),
    marked(
        "dir_and_dict",
        """
        import lib.comm as comm


        def run(x):
            if "legacy" in dir(comm):
                return comm.legacy(x)
            if "gather" in comm.__dict__:
                return comm.gather(x, axis=0)
            return x
        """,
    ),
    marked(
        "signature_membership",
        """
        import inspect

        from lib.comm import create

        TAKES_GROUP = "group" in inspect.signature(create).parameters


        def run(g):
            if TAKES_GROUP:
                return create(1, 0, group=g)
            return create(1, 0)


        def run_otherwise(g):
            return create(1, 0) if TAKES_GROUP else create(1, 0, group=g)  #! DW101 group 0.1.0 raises
        """,
    ),
    marked(
        "signature_in_a_variable_and_a_set",
        """
        import inspect

        import lib.comm as comm


        def run(x, ws):
            parameters = inspect.signature(comm.fuse).parameters
            names = set(parameters)
            if "bias" in names:
                return comm.fuse(x, ws, bias=1.0)
            if parameters.get("early") is not None:
                return comm.fuse(x, ws, early=True)
            return comm.fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "var_keyword_in_the_signature",
        """
        import inspect

        from lib.comm import create


        def run(g):
            kinds = [p.kind for p in inspect.signature(create).parameters.values()]
            if inspect.Parameter.VAR_KEYWORD in kinds:
                return create(1, 0, colour=g)
            return create(1, 0)
        """,
    ),
    marked(
        "version_of_the_package",
        """
        import lib
        import lib.comm as comm
        from packaging.version import Version


        def run(x, ws):
            if Version(lib.__version__) >= Version("0.2.0"):
                return comm.fuse(x, ws, early=True)
            return comm.fuse(x, ws, early=True)  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "version_as_text_is_compared_as_text",
        """
        import lib
        import lib.comm as comm


        def run(x):
            if lib.__version__ >= "0.2.0":
                return comm.gather(x, axis=0)
            return comm.legacy(x)  #! DW201 legacy 0.10.0 raises
        """,
    ),
    marked(
        "version_as_numbers",
        """
        import lib
        import lib.comm as comm

        VERSION = tuple(int(p) for p in lib.__version__.split(".")[:3])


        def run(x):
            if VERSION >= (0, 10):
                return comm.legacy(x)  #! DW201 legacy 0.10.0 raises
            if VERSION < (0, 2):
                return comm.legacy(x)
            return comm.gather(x, 0)
        """,
    ),
    marked(
        "version_of_the_distribution",
        """
        from importlib.metadata import version

        import lib.comm as comm
        from packaging import version as v


        def run(x):
            if v.parse(version("lib-dist")) < v.parse("0.2.0.post1"):
                return comm.legacy(x)
            return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
        runs=False,
    ),
    marked(
        "version_by_a_copy_that_another_package_carries",
        """
        import lib
        import lib.comm as comm
        from tool._vendor.packaging.version import parse

        VERSION = tuple(map(int, parse(lib.__version__).base_version.split(".")))[:2]


        def run(x):
            if VERSION < (0, 2):
                return comm.legacy(x)
            return comm.gather(x, axis=0)


        def run_wrong(x):
            return comm.legacy(x) if VERSION >= (0, 10) else x  #! DW201 legacy 0.10.0 raises
        """,
        runs=False,
    ),
    marked(
        "an_unknown_guard_lets_both_ways_through",
        """
        import lib.comm as comm


        def run(x, flag):
            if flag:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "walrus_and_and",
        """
        import lib.comm as comm


        def run(x):
            if (legacy := getattr(comm, "legacy", None)) is not None and x is not None:
                return legacy(x)
            return None
        """,
    ),
    marked(
        "assert_narrows",
        """
        import lib.comm as comm


        def run(x):
            gather = getattr(comm, "gather", None)
            assert gather is not None
            return gather(x, axis=0)
        """,
    ),
    marked(
        "callable_and_getattr_in_all",
        """
        import lib.comm as comm

        NEEDED = ("fuse", "gather", "legacy")
        OK = all(callable(getattr(comm, name, None)) for name in NEEDED)


        def run(x):
            if OK:
                comm.gather(x, 0)
                return comm.legacy(x)
            return x
        """,
    ),
    marked(
        "member_of_an_instance",
        """
        from lib.comm import Ring


        def run(path):
            ring = Ring(1)
            if hasattr(ring, "checkpoint"):
                ring.checkpoint(path)  #! DW103 checkpoint 0.2.0 raises
            return ring
        """,
    ),
    marked(
        "constant_of_an_enum_like_class",
        """
        from lib.comm import Pattern


        def run():
            return Pattern.B  #! DW203 B 0.1.0 raises


        def run_guarded():
            return Pattern.C if hasattr(Pattern, "C") else None
        """,
    ),
    marked(
        "specifiers_and_release_tuples",
        """
        import lib
        import lib.comm as comm
        from packaging.specifiers import SpecifierSet
        from packaging.version import parse

        OLD = parse(lib.__version__) in SpecifierSet("<0.2")
        POST = parse(lib.__version__).release >= (0, 2, 0)


        def run(x):
            if OLD:
                return comm.legacy(x)
            assert POST
            return comm.gather(x, axis=0)
        """,
    ),
    marked(
        "chained_comparison",
        """
        import lib
        import lib.comm as comm
        from packaging.version import Version


        def run(x):
            if Version("0.2.0") <= Version(lib.__version__) < Version("0.10"):
                return comm.gather(x, 0)
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
    marked(
        "flag_turned_off_by_the_first_failure",
        """
        import lib.comm as comm

        _TAKES_GROUP = True


        def run(g):
            global _TAKES_GROUP
            if _TAKES_GROUP:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 guarded@11
                except TypeError:
                    _TAKES_GROUP = False
            return comm.create(1, 0)
        """,
        runs=False,
    ),
    marked(
        "version_function_of_the_code_base",
        """
        import lib
        import lib.comm as comm


        def _at_least(*wanted):
            return tuple(int(part) for part in lib.__version__.split(".")[:2]) >= wanted


        def run(x):
            if _at_least(0, 2):
                return comm.gather(x, axis=0)
            return comm.legacy(x)
        """,
    ),
    marked(
        "name_built_of_parts",
        """
        import lib.comm as comm


        def run(x):
            name = f"leg{'acy'}"
            return getattr(comm, name)(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
    ),
    marked(
        "if_not_type_checking",
        """
        from typing import TYPE_CHECKING

        if not TYPE_CHECKING:
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        else:
            legacy = None
        """,
    ),
    marked(
        "parts_of_the_version_in_a_tuple",
        """
        import lib
        import lib.comm as comm
        from packaging.version import Version

        NOW = Version(lib.__version__)


        def run(x, workspace):
            if (NOW.major, NOW.minor) >= (0, 2):
                comm.gather(x, axis=0)
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run_flags(x):
            flags = (hasattr(comm, "gather"), hasattr(comm, "legacy"))
            if flags == (True, False):
                return comm.gather(x, axis=0, out=None)  #! DW101 out 0.10.0 raises
            return comm.legacy(x)
        """,
    ),
    marked(
        "match_of_a_tuple",
        """
        import lib
        import lib.comm as comm
        from packaging.version import Version


        def kind():
            match (hasattr(comm, "gather"), hasattr(comm, "legacy")):
                case (True, True):
                    return "both"
                case (True, _):
                    return "new"
                case [False, known] if known:
                    return "old"
            return "none"


        def run(x):
            match kind():
                case "both" | "new":
                    comm.gather(x, axis=0)
                case "old":
                    comm.legacy(x)
                case _:
                    comm.nothing

        def run_release(x):
            match Version(lib.__version__).release[:2]:
                case (0, 1):
                    return comm.legacy(x)
                case (0, minor) if minor > 5:
                    return comm.gather(x, axis=0, out=None)  #! DW101 out 0.10.0 raises
                case (_, _):
                    return comm.gather(x, axis=0, out=None)  #! DW101 out 0.2.0 raises
                case (_, _, _):
                    return comm.nothing
        """,
    ),
    marked(
        "helper_that_passes_the_version_on",
        """
        import lib
        import lib.comm as comm
        from packaging.version import Version


        def at_least(version):
            return Version(lib.__version__) >= Version(version)


        def requires(version):
            if not at_least(version):
                raise RuntimeError(f"needs lib>={version}")


        def run(x):
            requires("0.2.0")
            return comm.gather(x, axis=0)


        def run_not_enough(x):
            requires("0.1.0")
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
        """,
    ),
)
