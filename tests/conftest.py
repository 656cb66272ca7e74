"""What every test may rely on: no run touches the user's cache, a test that needs the index says so, golden files.

`network` tests are skipped where the package index cannot be reached, so that a checkout can be tested offline; with
DRIFTWATCH_REQUIRE_NETWORK=1 they run, and fail, instead. A cache named by DRIFTWATCH_CACHE_DIR is used as it is;
otherwise the whole run, its workers and the processes they start, shares one of its own, which is gone afterwards.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
CACHE_VARIABLE = "DRIFTWATCH_CACHE_DIR"

# How long an example takes says something about the machine alone, and each may write over the files of the one before.
settings.register_profile(
    "driftwatch", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("driftwatch")

_own_cache = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what the code prints now")
    parser.addoption("--on-request", action="store_true", help="also run the tests that take minutes each")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--on-request"):
        return
    left_out = [item for item in items if item.get_closest_marker("on_request") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("on_request") is None]


def pytest_configure(config: pytest.Config) -> None:
    # Workers inherit the variable, so the cache is made once, by the process that starts them.
    if CACHE_VARIABLE not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="driftwatch-tests-")
        config.stash[_own_cache] = folder
        os.environ[CACHE_VARIABLE] = folder.name


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(_own_cache, None):
        del os.environ[CACHE_VARIABLE]
        folder.cleanup()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("network") is None or os.environ.get("DRIFTWATCH_REQUIRE_NETWORK") == "1":
        return
    if reason := why_offline():
        pytest.skip(reason)


@cache
def why_offline() -> str | None:
    """What stands between this run and the package index; None when nothing does."""
    from driftwatch.errors import IndexUnavailableError
    from driftwatch.snapshot.sources.index import PackageIndex

    try:
        with PackageIndex() as index:
            index.project("packaging")
    except IndexUnavailableError as error:
        return error.message
    return None


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
