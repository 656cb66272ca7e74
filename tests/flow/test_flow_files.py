"""How imports resolve to files of the code base, and which files and pieces of them are looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.files import Files
from driftwatch.flow.sources.relevance import select
from tests.flow.marked import history, write


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Files]:
    def made(*paths: str) -> Files:
        return Files(Contents(tmp_path, write(tmp_path, dict.fromkeys(paths, ""))))

    return made


def found(files: Files, importer: str, name: str, level: int = 0) -> str | None:
    module = files.module(importer)
    assert module is not None
    return files.resolve_path(name, module, level)


def test_packages_and_modules(tree: Callable[..., Files]) -> None:
    files = tree("pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py", "top.py")
    assert found(files, "top.py", "pkg") == "pkg/__init__.py"
    assert found(files, "top.py", "pkg.a") == "pkg/a.py"
    assert found(files, "top.py", "pkg.sub.b") == "pkg/sub/b.py"
    assert found(files, "pkg/sub/b.py", "top") == "top.py"
    assert found(files, "top.py", "pkg.b") is None
    assert found(files, "top.py", "os") is None


def test_relative_imports(tree: Callable[..., Files]) -> None:
    files = tree("pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py", "a.py")
    assert found(files, "pkg/sub/b.py", "a", 2) == "pkg/a.py"
    assert found(files, "pkg/sub/b.py", "", 2) == "pkg/__init__.py"
    assert found(files, "pkg/sub/b.py", "", 1) == "pkg/sub/__init__.py"
    assert found(files, "pkg/sub/__init__.py", "b", 1) == "pkg/sub/b.py"
    assert found(files, "pkg/sub/b.py", "a", 1) is None
    assert found(files, "pkg/sub/b.py", "a", 3) == "a.py"
    assert found(files, "pkg/sub/b.py", "a", 4) is None


def test_a_source_folder(tree: Callable[..., Files]) -> None:
    files = tree("src/pkg/__init__.py", "src/pkg/a.py", "tests/test_a.py", "tests/support.py")
    assert found(files, "tests/test_a.py", "pkg.a") == "src/pkg/a.py"
    assert found(files, "tests/test_a.py", "support") == "tests/support.py"
    assert found(files, "src/pkg/a.py", "support") == "tests/support.py"


def test_namespace_packages(tree: Callable[..., Files]) -> None:
    files = tree("space/one/__init__.py", "space/one/a.py", "space/two.py", "main.py")
    assert found(files, "main.py", "space.one.a") == "space/one/a.py"
    assert found(files, "main.py", "space.two") == "space/two.py"
    assert found(files, "space/two.py", "space.one") == "space/one/__init__.py"


def test_scripts_side_by_side(tree: Callable[..., Files]) -> None:
    files = tree("tools/run.py", "tools/shared.py", "bench/run.py", "bench/shared.py")
    assert found(files, "tools/run.py", "shared") == "tools/shared.py"
    assert found(files, "bench/run.py", "shared") == "bench/shared.py"


def test_a_module_inside_a_package_is_no_top_level_module(tree: Callable[..., Files]) -> None:
    files = tree("pkg/__init__.py", "pkg/json.py", "pkg/a.py", "main.py")
    assert found(files, "main.py", "json") is None
    assert found(files, "main.py", "pkg.json") == "pkg/json.py"


def test_of_several_the_nearest(tree: Callable[..., Files]) -> None:
    files = tree("one/lib_x.py", "one/deep/main.py", "two/lib_x.py", "three/main.py")
    assert found(files, "one/deep/main.py", "lib_x") == "one/lib_x.py"
    assert found(files, "three/main.py", "lib_x") == "one/lib_x.py"
    again = tree("two/lib_x.py", "one/deep/main.py", "three/main.py", "one/lib_x.py")
    assert found(again, "three/main.py", "lib_x") == "one/lib_x.py"


def test_a_package_comes_before_nothing_and_a_module_before_a_namespace(tree: Callable[..., Files]) -> None:
    files = tree("a.py", "a/inner.py", "main.py")
    assert found(files, "main.py", "a") == "a.py"


# -- what is looked at -------------------------------------------------------------------------------------------------


def looked_at(folder: Path, files: dict[str, str]) -> set[str]:
    """The files that were analysed."""
    seen: set[str] = set()
    analysis = analyse(folder, write(folder, files), [history()], progress=lambda *path: seen.add(str(path[0])))
    assert analysis.files == len(files)
    assert analysis.analysed == len(seen)
    return seen


def test_files_that_mention_the_library_and_their_importers(tmp_path: Path) -> None:
    files = {
        "direct.py": "import lib.comm as comm\n\n\ndef make(**kw):\n    return comm.create(**kw)\n",
        "importer.py": "from direct import make\n",
        "importer_of_importer.py": "import importer\n\nimporter.make(group=1)\n",
        "other.py": "def make(**kw):\n    return kw\n",
        "stranger.py": "from other import make\n",
        "library.py": "from lib import other_thing\n",
        "prose.py": "# lib.common is something else\nx = 'calibrate.comm'\n",
    }
    assert looked_at(tmp_path, files) == {"direct.py", "importer.py", "importer_of_importer.py"}


def test_importers_of_what_tells_nothing_of_the_library_are_not_looked_at(tmp_path: Path) -> None:
    files = {
        "direct.py": "import lib.comm as comm\n\nLIMIT = 3\n\n\ndef public(x, ws):\n    comm.fuse(x, ws)\n",
        "importer.py": "from direct import LIMIT\n",
    }
    assert looked_at(tmp_path, files) == {"direct.py"}


LAYOUT = (
    "pkg/__init__.py",
    "pkg/util.py",
    "pkg/near.py",
    "pkg/layers/__init__.py",
    "pkg/layers/util.py",
    "pkg/layers/near.py",
    "pkg/layers/deep/__init__.py",
    "pkg/layers/deep/far.py",
    "pkg/other/__init__.py",
    "pkg/other/far.py",
    "tests/util.py",
    "tests/test_it.py",
    "tests/deep/test_that.py",
    "script.py",
)
IMPORTS = (
    "from util import f\n", "import util\nutil.f()\n", "from pkg.util import f\n", "from pkg import util\nutil.f\n",
    "import pkg.layers.util as u\nu.f\n", "from pkg.layers.util import (g,\n  f)\n", "from layers.util import f\n",
    "from .util import f\n", "from . import util\nutil.f\n", "from ..util import f\n", "from .. import util\nutil.f\n",
    "from ...util import f\n", "from ..layers.util import f\n", "from ..layers import util\nutil.f\n",
    "from .layers.util import f\n", "from ...layers.util import *\nf\n", "from tests.util import f\n",
)  # fmt: skip


def test_whoever_may_import_a_name_is_found(tmp_path: Path) -> None:
    """Of all forms of import in all places, those that mean a file are among those that seem to."""
    meant = 0
    for text in IMPORTS:
        contents = Contents(tmp_path, write(tmp_path, dict.fromkeys(LAYOUT, f"def f(): pass\n{text}")))
        files = Files(contents)
        for path in LAYOUT:
            module = files.module(path)
            assert module is not None
            seem = files.importing(module, {"f"})
            for importer in LAYOUT:
                other = files.readable(importer)
                assert other is not None
                assert other.survey is not None
                items = [item for piece in other.survey.pieces for item in piece.imports]
                names = [item.module for item in items if item.module.rpartition(".")[2] == "util"]
                names += [f"{item.module}.{item.name}".strip(".") for item in items if item.name == "util"]
                if any(files.resolve_path(name, other, items[0].level) == path for name in names):
                    meant += 1
                    assert importer in seem, (text, importer, path)
    assert meant > 60


def test_of_a_common_name_only_those_that_can_mean_it_are_read(tmp_path: Path) -> None:
    texts = dict.fromkeys(LAYOUT, "from tests.util import f\n") | {"pkg/other/far.py": "from ..layers.util import f\n"}
    files = Files(Contents(tmp_path, write(tmp_path, texts)))
    module = files.module("pkg/layers/util.py")
    assert module is not None
    inside = [path for path in LAYOUT if path.startswith("pkg/layers/")]
    assert files.importing(module, {"f"}) == sorted([*inside, "pkg/other/far.py"])


@pytest.mark.parametrize(
    "text",
    [
        "import lib.comm\n",
        "import lib.comm as comm\n",
        "from lib import comm\n",
        "from lib import (other,\n    comm)\n",
        "from lib.comm import fuse\n",
        "from lib.comm.extra import deep\n",
        "import importlib\ncomm = importlib.import_module('lib.comm')\n",
        'import importlib\ncomm = importlib.import_module(".comm", "lib")\n',
        "import lib as l\nl.comm.fuse(1)\n",
        "import lib\nlib.comm.fuse(1)\n",
        "from lib import *\ncomm.fuse(1)\n",
    ],
)
def test_every_form_of_mention_is_found(text: str, tmp_path: Path) -> None:
    assert looked_at(tmp_path, {"f.py": text}) == {"f.py"}


def pieces(folder: Path, text: str) -> str:
    """The lines of a file that are executed."""
    files = Files(Contents(folder, write(folder, {"f.py": text})))
    module = files.module("f.py")
    assert module is not None
    chosen = select(module, "lib.comm", "lib-dist", files)
    lines = text.split("\n")
    return "\n".join(line for first, last in chosen.runs for line in lines[first - 1 : last])


def test_pieces_that_lead_to_the_library_and_what_they_need(tmp_path: Path) -> None:
    text = (
        "import os\n"
        "import lib.comm as comm\n"
        "SIZE = os.cpu_count()\n"
        "NAME = 'fuse'\n"
        "class Unrelated:\n    x = 1\n"
        "def uses(x):\n    return getattr(comm, NAME)(x)\n"
        "def caller(x):\n    return uses(x)\n"
        "def stranger(x):\n    return SIZE\n"
    )
    chosen = pieces(tmp_path, text)
    for line in ("import lib.comm as comm", "NAME = 'fuse'", "def uses(x):", "def caller(x):"):
        assert line in chosen
    for line in ("class Unrelated:", "def stranger(x):", "SIZE"):
        assert line not in chosen


def test_everything_where_a_star_may_bring_anything(tmp_path: Path) -> None:
    chosen = pieces(
        tmp_path, "from lib.comm import *\n\n\ndef uses(x):\n    return fuse(x)\n\n\ndef other():\n    return 1\n"
    )
    assert "return fuse(x)" in chosen
    assert "return 1" not in chosen


def test_text_that_names_the_library_leads_to_it(tmp_path: Path) -> None:
    chosen = pieces(tmp_path, "import metadata\nV = metadata.version('lib-dist')\nW = metadata.version('other')\n")
    assert "V = " in chosen
    assert "W = " not in chosen
