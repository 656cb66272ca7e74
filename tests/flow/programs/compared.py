"""Objects of the code base that are compared, measured and looked into by methods of their own."""

from __future__ import annotations

from tests.flow.marked import marked

COMPARED = (
    marked(
        "a_version_class_compares_by_its_own_methods",
        """
        import lib
        import lib.comm as comm


        class Version:
            def __init__(self, text):
                self.parts = tuple(int(part) for part in text.split(".")[:2])

            def __ge__(self, other):
                return self.parts >= other.parts

            def __lt__(self, other):
                return not self >= other


        HERE = Version(lib.__version__)


        def run_at_least(x):
            if HERE >= Version("0.2"):
                return comm.fuse(x, 1, early=True)
            return comm.fuse(x, 1)


        def run_reflected(x):
            if Version("0.2") > HERE:
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_less(x):
            if HERE < Version("0.2"):
                return None
            return comm.gather(x, 0)  #! DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "total_ordering_makes_the_other_comparisons",
        """
        import functools

        import lib
        import lib.comm as comm


        @functools.total_ordering
        class Version:
            def __init__(self, text):
                self.parts = tuple(int(part) for part in text.split(".")[:2])

            def __eq__(self, other):
                return self.parts == other.parts

            def __lt__(self, other):
                return self.parts < other.parts


        HERE = Version(lib.__version__)


        def run_ge(x):
            return comm.fuse(x, 1, early=True) if HERE >= Version("0.2") else x


        def run_gt(x):
            return comm.fuse(x, 1, early=True) if HERE > Version("0.1") else x


        def run_le(x):
            return x if HERE <= Version("0.1") else comm.gather(x, 0)  #! DW102 axis 0.10.0 raises


        def run_ne(x):
            return comm.fuse(x, 1, early=True) if HERE != Version("0.2") else x  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "records_compare_field_by_field",
        """
        from dataclasses import dataclass
        from typing import NamedTuple

        import lib
        import lib.comm as comm


        @dataclass(order=True, frozen=True)
        class Version:
            major: int
            minor: int

            @classmethod
            def parse(cls, text):
                major, minor = text.split(".")[:2]
                return cls(int(major), int(minor))


        class Pair(NamedTuple):
            major: int
            minor: int


        HERE = Version.parse(lib.__version__)
        MAPPED = Pair(*map(int, lib.__version__.split(".")[:2]))
        LISTED = Pair(*[int(part) for part in lib.__version__.split(".")[:2]])


        def run_dataclass(x):
            return comm.fuse(x, 1, early=True) if HERE >= Version(0, 2) else x


        def run_mapped(x):
            return x if MAPPED < (0, 2) else comm.fuse(x, 1, early=True)


        def run_listed(x):
            return comm.fuse(x, 1, early=True) if LISTED >= Pair(0, 2) else x


        def run_tuple(x):
            return comm.fuse(x, 1, early=True) if tuple(LISTED) >= (0, 2) else x


        def run_wrong(x):
            return comm.fuse(x, 1, early=True) if LISTED.minor < 2 else x  #! DW101 early 0.1.0 raises
        """,
    ),
    marked(
        "what_functions_ask_of_an_object",
        """
        import lib.comm as comm


        class Features:
            def __init__(self):
                self.names = {name for name in ("fuse", "gather") if hasattr(comm, name)}

            def __len__(self):
                return len(self.names)

            def __contains__(self, name):
                return name in self.names

            def __int__(self):
                return len(self.names)

            def __str__(self):
                return ",".join(sorted(self.names))


        FEATURES = Features()


        def run_length(x):
            return comm.gather(x, 0) if len(FEATURES) == 2 else x  #! DW102 axis 0.10.0 raises


        def run_number(x):
            return comm.fuse(x, 1, early=True) if int(FEATURES) == 1 else x  #! DW101 early 0.1.0 raises


        def run_text(x):
            return comm.fuse(x, 1, early=True) if str(FEATURES) == "fuse" else x  #! DW101 early 0.1.0 raises


        def run_contains(x):
            return comm.fuse(x, 1, early=True) if "gather" in FEATURES else x
        """,
    ),
    marked(
        "a_method_answers_by_what_its_object_holds",
        """
        import lib.comm as comm


        class Level:
            def __init__(self, number):
                self.number = number

            def is_high(self):
                return self.number > 1

            def __bool__(self):
                return self.number > 1


        def run_low(x):
            return comm.fuse(x, 1, early=True) if Level(1).is_high() else x


        def run_high(x):
            return comm.fuse(x, 1, early=True) if Level(2).is_high() else x  #! DW101 early 0.1.0 raises


        def run_truth(x):
            return comm.fuse(x, 1, early=True) if Level(1) else x
        """,
    ),
    marked(
        "a_test_case_expects_an_exception",
        """
        import unittest

        import lib.comm as comm


        class TestFuse(unittest.TestCase):
            def test_block(self):
                with self.assertRaises(TypeError):
                    comm.fuse(1, 2, early=True)  #! DW101 early 0.1.0 guarded@8

            def test_call(self):
                self.assertRaises(TypeError, comm.fuse, 1, 2, early=True)  #! DW101 early 0.1.0 guarded@12

            def test_message(self):
                with self.assertRaisesRegex(TypeError, "early"):
                    comm.fuse(1, 2, early=True)  #! DW101 early 0.1.0 guarded@15

            def test_another(self):
                with self.assertRaises(ValueError):
                    comm.fuse(1, 2, early=True)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "pytest_raises_is_given_what_it_calls",
        """
        import pytest

        import lib.comm as comm


        def test_old():
            pytest.raises(TypeError, comm.fuse, 1, 2, early=True)  #! DW101 early 0.1.0 guarded@7
        """,
        runs=False,
    ),
    marked(
        "lists_that_have_something_in_some_releases_only_are_others_there",
        """
        import lib.comm as comm

        FOUND = [name for name in ("fuse", "gather", "legacy") if hasattr(comm, name)]
        NAMES = set(FOUND)


        def run_joined(x):
            if ",".join(FOUND) == "fuse,legacy":
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_sorted(x):
            if sorted(NAMES) == ["fuse", "legacy"]:
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_joined_sorted(x):
            text = " ".join(sorted(NAMES))
            return comm.fuse(x, 1, early=True) if text != "fuse legacy" else x


        def run_mapped(x):
            if "".join(map(str, FOUND)) == "fuselegacy":
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_written(x):
            if str(FOUND) == "['fuse', 'legacy']":
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises may


        def run_formatted(x):
            if f"{FOUND}" == "['fuse', 'gather']":
                return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises may
        """,
        runs=False,
    ),
    marked(
        "an_operator_that_one_side_leaves_to_the_other",
        """
        import lib.comm as comm


        class Plain:
            def __or__(self, other):
                return NotImplemented

            def __ge__(self, other):
                return NotImplemented


        class Early:
            def __ror__(self, other):
                return {"early": True}

            def __le__(self, other):
                return False


        def run_joined(x):
            return comm.fuse(x, 1, **(Plain() | Early()))  #! DW101 early 0.1.0 raises


        def run_compared(x):
            return comm.fuse(x, 1, early=True) if Plain() >= Early() else x
        """,
    ),
)
