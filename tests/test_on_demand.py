"""Scans against libraries that nobody has set up: modules and releases come from a package index, here a local one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from driftwatch.snapshot.commands.on_demand import importable
from tests.cli_process import Result, run
from tests.fake_index import FakeIndex, make_sdist, make_wheel, serving

RELEASES = {
    "1.0": "def fire(pot): ...\n",
    "1.1": "def fire(pot, *, cone=6): ...\n",
    "2.0rc1": "def fire(pot, *, cone=6): ...\n",
    "2.0": "def fire(pot, *, cone=6, glaze=None): ...\n",
}


@pytest.fixture
def index() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as served:
        for version, source in RELEASES.items():
            wheel = make_wheel({"kilns/__init__.py": source, "kilns_extra.py": ""}, "potters-kiln", version)
            served.add("potters-kiln", f"potters_kiln-{version}-py3-none-any.whl", wheel)
        yield served


def scan(index: FakeIndex, folder: Path, *arguments: str) -> Result:
    surroundings = {
        "PIP_INDEX_URL": index.url,
        "PIP_EXTRA_INDEX_URL": "",
        "UV_INDEX_URL": "",
        "PIP_RETRIES": "0",
        "DRIFTWATCH_CACHE_DIR": str(folder.parent / "cache"),
    }
    return run("scan", *arguments, cwd=folder, environment=surroundings)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "studio.py").write_text("import kilns\nkilns.fire(1, cone=3)\n", encoding="utf-8")
    return folder


def releases(report: str, key: str) -> Sequence[str]:
    found: Sequence[str] = json.loads(report)["targets"][0][key]
    return found


def test_a_library_needs_no_set_up(index: FakeIndex, code: Path) -> None:
    result = scan(index, code, "--against", "potters-kiln>=1.0", "--format", "json")
    assert result.status == 1, result
    report = json.loads(result.out)
    (target,) = report["targets"]
    assert (target["distribution"], target["module"]) == ("potters-kiln", "kilns")
    assert target["releases"]["known"] == ["1.0", "1.1", "2.0"]
    (finding,) = report["findings"]
    assert (finding["code"], finding["parameter"], finding["releases"]) == ("DW101", "cone", ["1.0"])
    assert target["remark"] == "module kilns; not kilns_extra"


@pytest.mark.parametrize(
    ("spec", "known"),
    [
        ("potters-kiln>=1.1", ["1.1", "2.0"]),
        ("Potters_Kiln==2.0rc1", ["2.0rc1"]),
        ("potters-kiln<2", ["1.0", "1.1"]),
    ],
)
def test_the_releases_are_those_that_are_asked_for(index: FakeIndex, code: Path, spec: str, known: list[str]) -> None:
    result = scan(index, code, "--against", spec, "--format", "json", "--fail-on", "never")
    assert result.status == 0, result
    assert json.loads(result.out)["targets"][0]["releases"]["known"] == known


def test_what_is_known_is_not_fetched_again_and_answers_without_the_index(index: FakeIndex, code: Path) -> None:
    first = scan(index, code, "--against", "potters-kiln>=1.0", "--format", "json")
    asked = len(index.requests)
    again = scan(index, code, "--against", "potters-kiln>=1.0", "--format", "json")
    assert json.loads(again.out) == json.loads(first.out)
    assert [path for path, _ in index.requests[asked:]] == ["/simple/potters-kiln/"]
    index.statuses = [503] * 20
    offline = scan(index, code, "--against", "potters-kiln>=1.0")
    assert offline.status == 1, offline
    assert "could not be reached: what was known before" in " ".join(offline.out.split())


def test_a_name_that_the_index_does_not_have(index: FakeIndex, code: Path) -> None:
    result = scan(index, code, "--against", "flashinfer-pythn>=0.6.0")
    assert result.status == 2, result
    assert "did you mean flashinfer-python?" in result.err


def test_a_name_that_selects_nothing_and_looks_like_another_one(index: FakeIndex, code: Path) -> None:
    index.add("flashinfer-pythn", "flashinfer_pythn-1.0-py3-none-any.whl", make_wheel({"f.py": ""}, "flashinfer-pythn"))
    result = scan(index, code, "--against", "flashinfer-pythn>=9.0")
    assert result.status == 2, result
    assert "selects no known release" in result.err
    assert "did you mean flashinfer-python?" in result.err


def test_an_sdist_is_read_where_there_is_no_wheel(index: FakeIndex, code: Path) -> None:
    files = {"src/kilns/__init__.py": RELEASES["1.0"], "setup.py": "", "tests/__init__.py": ""}
    index.add("old-kiln", "old-kiln-0.1.tar.gz", make_sdist(files, "old-kiln", "0.1"))
    result = scan(index, code, "--against", "old-kiln==0.1", "--format", "json")
    assert result.status == 1, result
    assert json.loads(result.out)["targets"][0]["module"] == "kilns"


def test_a_module_that_sources_do_not_show_is_not_told_to_be_unused(index: FakeIndex, code: Path) -> None:
    """``package_dir = {"wraps": "src"}``, as wrapt has it in 1.0.0."""
    files = {"src/__init__.py": "", "src/decorators.py": "def decorator(f): ...\n", "setup.py": ""}
    index.add("wraps", "wraps-1.0.tar.gz", make_sdist(files, "wraps", "1.0"))
    nothing = scan(index, code, "--against", "wraps==1.0")
    assert (nothing.status, "module decorators" in " ".join(nothing.out.split())) == (0, True)
    (code / "uses.py").write_text("import wraps\n\nwraps.decorator(1, 2)\n", encoding="utf-8")
    result = scan(index, code, "--against", "wraps==1.0")
    assert (result.status, result.out) == (2, "")
    assert "wraps 1.0 has no wheel, and which modules its sources install cannot be told" in result.err


@pytest.mark.parametrize(
    ("paths", "wheel", "modules"),
    [
        (["a/__init__.py", "a/b.py", "a-1.dist-info/METADATA"], True, {"a"}),
        (["six.py"], True, {"six"}),
        (["google/cloud/storage/__init__.py", "google/cloud/storage/blob.py"], True, {"google.cloud.storage"}),
        (["a-1.data/purelib/a/__init__.py", "a-1.data/scripts/run.py"], True, {"a"}),
        (["_a/__init__.py", "tests/__init__.py", "a.py"], True, {"a"}),
        (["a-1/src/a/__init__.py", "a-1/setup.py", "a-1/docs/conf.py"], False, {"a"}),
        (["a-1/a/__init__.py", "a-1/a/b/__init__.py", "a-1/conftest.py"], False, {"a"}),
    ],
)
def test_which_modules_an_archive_has(paths: list[str], wheel: bool, modules: set[str]) -> None:
    assert set(importable(paths, wheel=wheel)) == modules


def test_a_module_called_like_what_a_build_leaves_is_the_distributions_own(index: FakeIndex, code: Path) -> None:
    files = {"build/__init__.py": RELEASES["1.0"], "tests/__init__.py": ""}
    index.add("build", "build-1.0-py3-none-any.whl", make_wheel(files, "build", "1.0"))
    assert set(importable(files, wheel=True)) == set()
    (code / "uses.py").write_text("import build\n\nbuild.nowhere()\n", encoding="utf-8")
    result = scan(index, code, "--against", "build==1.0", "--format", "json")
    assert result.status == 1, result
    assert [target["module"] for target in json.loads(result.out)["targets"]] == ["build"]


def test_a_namespace_that_says_so_is_none_of_the_distributions_modules(index: FakeIndex, code: Path) -> None:
    declares = "__import__('pkg_resources').declare_namespace(__name__)\n"
    old = {"pots/__init__.py": declares, "pots/glaze.py": "def dip(): ...\n"}
    index.add("pots-glaze", "pots_glaze-1.0-py3-none-any.whl", make_wheel(old, "pots-glaze", "1.0"))
    index.add("pots-glaze", "pots-glaze-0.9.tar.gz", make_sdist(old, "pots-glaze", "0.9"))
    new = {"pots/glaze/__init__.py": "def dip(): ...\n"}
    index.add("pots-glaze", "pots_glaze-2.0-py3-none-any.whl", make_wheel(new, "pots-glaze", "2.0"))
    (code / "studio.py").write_text("import pots.clay\nfrom pots import glaze\nglaze.dip()\n", encoding="utf-8")
    for spec in ("pots-glaze==0.9", "pots-glaze==1.0", "pots-glaze>=0.9"):
        result = scan(index, code, "--against", spec, "--format", "json")
        report = json.loads(result.out)
        assert report["targets"][0]["module"] == "pots.glaze"
        assert report["findings"] == []


PAINT = {
    "1.0": "def paint(pot, brush, colour): ...\n",
    "1.1": "def paint(pot, brush, primer, colour=None): ...\n",
}


@pytest.mark.parametrize(
    ("requirement", "wrong", "hint"),
    [
        ("potters-paint==1.0", ["1.1"], "pass it by keyword"),
        ("potters-paint==1.1", ["1.0"], "pass it by keyword"),
        ("potters-paint<1.1", ["1.1"], "pass it by keyword"),
        ("potters-paint>=1.0", ["1.0"], "pass by keyword what it is, `colour` or `primer`"),
        ("other", ["1.0"], "pass by keyword what it is, `colour` or `primer`"),
    ],
)
def test_what_the_code_base_says_it_is_for_is_what_a_positional_argument_means(
    index: FakeIndex, code: Path, requirement: str, wrong: list[str], hint: str
) -> None:
    for version, source in PAINT.items():
        filename = f"potters_paint-{version}-py3-none-any.whl"
        index.add("potters-paint", filename, make_wheel({"paints.py": source}, "potters-paint", version))
    (code / "uses.py").write_text("import paints\n\npaints.paint(1, 2, 'red')\n", encoding="utf-8")
    (code / "pyproject.toml").write_text(
        f'[project]\nname = "studio"\nversion = "1"\ndependencies = ["{requirement}"]\n', encoding="utf-8"
    )
    report = json.loads(scan(index, code, "--against", "potters-paint>=1.0", "--format", "json").out)
    (finding,) = (each for each in report["findings"] if each["code"] == "DW104")
    assert (finding["releases"], finding["hint"]) == (wrong, hint)


def test_a_class_is_one_by_whatever_name_it_is_known(index: FakeIndex, code: Path) -> None:
    files = {
        "pots/__init__.py": "from .models import Pot, Bowl\n",
        "pots/models.py": "class Pot:\n    def fill(self): ...\n\n\nclass Bowl(Pot): ...\n",
    }
    index.add("pots", "pots-1.0-py3-none-any.whl", make_wheel(files, "pots", "1.0"))
    (code / "uses.py").write_text(
        "import pots\nfrom pots.models import Pot\n\n\n"
        "def use(each):\n    if not isinstance(each, Pot):\n        return each.spill()\n    return each.pour()\n\n\n"
        "use(pots.Bowl())\nuse(pots.Pot())\n",
        encoding="utf-8",
    )
    report = json.loads(scan(index, code, "--against", "pots==1.0", "--format", "json").out)
    assert {(each["code"], each["path"], each["line"]) for each in report["findings"]} == {("DW203", "uses.py", 8)}


def test_what_a_descriptor_of_the_library_gives_is_not_the_descriptor(index: FakeIndex, code: Path) -> None:
    """As the traits of traitlets are; and a function that driftwatch knows itself is the library's all the same."""
    traits = "class Trait:\n    def __get__(self, owner, cls=None): ...\n\n\nclass Instance(Trait): ...\n"
    index.add("traits", "traits-1.0-py3-none-any.whl", make_wheel({"traits.py": traits}, "traits", "1.0"))
    files = {"packaging/__init__.py": "", "packaging/version.py": "class Version:\n    def __init__(self, v): ...\n"}
    index.add("packaging", "packaging-1.0-py3-none-any.whl", make_wheel(files, "packaging", "1.0"))
    (code / "uses.py").write_text(
        "import traits\nfrom packaging.version import Version\n\n\n"
        "class App:\n    notary = traits.Instance()\n\n    def start(self, text):\n        self.notary.sign()\n"
        "        traits.Instance().sign()\n        return Version(text).major\n",
        encoding="utf-8",
    )
    ranges = ("--against", "traits==1.0", "--against", "packaging==1.0")
    report = json.loads(scan(index, code, *ranges, "--format", "json").out)
    assert {(each["code"], each["line"]) for each in report["findings"]} == {("DW203", 10), ("DW203", 11)}


def test_two_modules_of_one_distribution_may_be_recorded_of_other_releases(index: FakeIndex, code: Path) -> None:
    for version, source in (("1.0", "def b(): ...\n"), ("1.1", "def b(x): ...\n")):
        files = {"one.py": "def a(): ...\n", "two.py": source}
        index.add("pair", f"pair-{version}-py3-none-any.whl", make_wheel(files, "pair", version))
    tables = (
        f'[[target]]\ndistribution = "pair"\nmodule = "{module}"\nsnapshots = "{module}"\n' for module in ("one", "two")
    )
    (code / "driftwatch.toml").write_text("".join(tables), encoding="utf-8")
    (code / "studio.py").write_text("import one\nimport two\none.a()\ntwo.b()\n", encoding="utf-8")
    surroundings = {"PIP_INDEX_URL": index.url, "DRIFTWATCH_CACHE_DIR": str(code.parent / "cache")}
    for module, versions in (("one", ["1.0", "1.1"]), ("two", ["1.1"])):
        added = run("snapshot", "add", *versions, "--target", module, cwd=code, environment=surroundings)
        assert added.status == 0, added
    report = json.loads(scan(index, code, "--against", "pair>=1.0", "--format", "json").out)
    (target,) = (each for each in report["targets"] if each["distribution"] == "pair")
    assert target["compatible"] == ["1.0"]
    (finding,) = (each for each in report["findings"] if each["severity"] == "error")
    assert (finding["line"], finding["releases"]) == (4, ["1.1"])
