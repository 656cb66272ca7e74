"""What every test may use: the network marker, an own cache for each run, and golden files.

A test marked ``network`` is skipped where the package index cannot be reached, so that a checkout can be tested offline;
DRIFTWATCH_REQUIRE_NETWORK=1 makes it run, and fail, instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what the code prints now")


@cache
def index_reachable() -> bool:
    """Whether the package index of this environment answers."""
    from driftwatch.errors import IndexUnavailableError
    from driftwatch.snapshot.index import PackageIndex

    try:
        with PackageIndex() as index:
            index.project("packaging")
    except IndexUnavailableError:
        return False
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("network") is None or os.environ.get("DRIFTWATCH_REQUIRE_NETWORK") == "1":
        return
    if not index_reachable():
        pytest.skip("the package index cannot be reached")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing that an earlier run left behind decides a test; processes that tests start inherit it."""
    os.environ["DRIFTWATCH_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden, which only ``--update-golden`` ever writes."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.is_file(), f"tests/golden/{name} does not exist; --update-golden writes it"
        assert text == path.read_text(encoding="utf-8")

    return compare
