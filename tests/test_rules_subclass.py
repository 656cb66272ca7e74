"""DW302 against Python itself: which releases refuse to construct a subclass, however the base came to be abstract."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.releases import Timeline
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.sources.tree import FolderTree

HEAD = """\
import abc
from abc import ABC, ABCMeta, abstractmethod
from typing import Protocol


class Lit:
    def ignite(self): ...


class Strict(ABCMeta):
    pass

"""
IGNITE = """
    @abstractmethod
    def ignite(self): ...
"""
BASES = {
    "1.0": "class Burner(metaclass=ABCMeta):" + IGNITE,
    "1.1": "class Burner(metaclass=abc.ABCMeta):" + IGNITE,
    "1.2": "class Burner(ABC):" + IGNITE,
    "1.3": "class Burner(Protocol):" + IGNITE,
    "1.4": "class Burner:" + IGNITE,
    "1.5": "class Above(metaclass=ABCMeta):" + IGNITE + "\n\nclass Burner(Above):\n    pass\n",
    "1.6": "class Above(metaclass=ABCMeta):" + IGNITE + "\n\nclass Burner(Lit, Above):\n    pass\n",
    "1.7": "class Above(ABC):" + IGNITE + "\n\nclass Burner(Above):\n    def ignite(self): ...\n",
    "1.8": "class Burner(metaclass=Strict):" + IGNITE,
    "1.9": "class Above:" + IGNITE + "\n\nclass Burner(Above, metaclass=ABCMeta):\n    pass\n",
    "2.0": "class Burner(metaclass=ABCMeta):\n    def ignite(self): ...\n",
}
SUBCLASS = """\
from kiln import Burner


class Gas(Burner):
    {}


def light():
    return Gas()
"""


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {}
    for release, source in BASES.items():
        folders[release] = tmp_path_factory.mktemp("kiln") / release
        (folders[release] / "kiln").mkdir(parents=True)
        (folders[release] / "kiln/__init__.py").write_text(HEAD + source)
    return folders


def refuse(releases: dict[str, Path], source: str) -> list[str]:
    """The releases in which Python does not construct the class."""
    return [
        release
        for release, folder in releases.items()
        if "TypeError: Can't instantiate abstract class"
        in subprocess.run(
            [sys.executable, "-c", f"{source}\n\nlight()"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(folder)},
        ).stderr
    ]


@pytest.mark.parametrize(
    "body",
    ["pass", "def ignite(self): ...", "ignite = None", "def douse(self): ..."],
    ids=["pass", "def", "name", "other"],
)
def test_a_subclass_is_refused_where_python_refuses_it(releases: dict[str, Path], tmp_path: Path, body: str) -> None:
    source = SUBCLASS.format(body)
    (tmp_path / "app.py").write_text(source)
    snapshots = [collect(FolderTree(folder), "kiln", release) for release, folder in releases.items()]
    history = merge("kiln", "kiln", snapshots, Timeline(tuple(BASES)))
    result = scan(ScanRequest((tmp_path,), (Watched(history),), against=("all",)))
    found = [f for f in result.findings if f.code == "DW302"]
    said = [release for f in found for release in history.timeline.versions_of(f.releases)]
    expected = refuse(releases, source)
    # What a metaclass of the library's own does is not known: nothing is said of it.
    assert said == [release for release in expected if release != "1.8"]
    assert all(f.severity.value == "error" and f.location.line == 9 for f in found)
    assert bool(expected) == (body in ("pass", "def douse(self): ..."))


def test_a_base_that_nobody_knows_may_define_what_is_abstract(tmp_path: Path) -> None:
    bases = {"1": "Far, Burner", "2": "Burner", "3": "Burner, Far"}
    snapshots = []
    for release, named in bases.items():
        source = f"{HEAD}\nfrom far import Far\n\n\nclass Burner(ABC):{IGNITE}\n\nclass Gas({named}): ...\n"
        place = tmp_path / release / "kiln" / "__init__.py"
        place.parent.mkdir(parents=True)
        place.write_text(source)
        snapshots.append(collect(FolderTree(tmp_path / release), "kiln", release))
    history = merge("kiln", "kiln", snapshots)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.py").write_text(SUBCLASS.format("pass").replace("Burner", "Gas as Burner", 1))
    result = scan(ScanRequest((tmp_path / "app",), (Watched(history),), against=("all",)))
    assert [history.timeline.describe(f.releases) for f in result.findings if f.code == "DW302"] == ["2"]
