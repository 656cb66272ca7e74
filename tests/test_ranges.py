"""Which releases count: asked for, configured, declared by the project, or the newest."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.errors import UsageError
from driftwatch.project.declared import Requirements
from driftwatch.project.ranges import CheckedRange, check_names, choose
from driftwatch.releases import Timeline

LIB = "flash-kiln"
TIMELINE = Timeline(("0.5.3", "0.6.0", "0.6.10", "0.6.10.post1", "0.7.2", "0.7.4"))


def chosen(*against: str, configured: tuple[str, ...] = (), folder: Path | None = None) -> CheckedRange:
    requirements = Requirements(folder, [LIB]) if folder is not None else None
    return choose(
        LIB,
        TIMELINE,
        against=against,
        configured=configured,
        configured_in="pyproject.toml",
        requirements=requirements,
    )


def versions(found: CheckedRange) -> str:
    return TIMELINE.describe(found.releases)


@pytest.mark.parametrize(
    ("against", "expected"),
    [
        (("0.6.x",), "0.6.0 to 0.6.10.post1"),
        ((">=0.6,!=0.6.x",), "0.7.2 to 0.7.4"),
        (("flash-kiln==0.6.X",), "0.6.0 to 0.6.10.post1"),
        (("flash-kiln != 0.6.x, >= 0.6",), "0.7.2 to 0.7.4"),
        ((">=0.6",), "0.6.0 to 0.7.4"),
        ((">=0.6,<0.7",), "0.6.0 to 0.6.10.post1"),
        (("flash-kiln>=0.6.0",), "0.6.0 to 0.7.4"),
        (("Flash_Kiln >= 0.7",), "0.7.2 to 0.7.4"),
        (("flash.kiln[cu13]==0.7.4",), "0.7.4"),
        (("0.7.4",), "0.7.4"),
        (("v0.7.4",), "0.7.4"),
        (("==0.6.*",), "0.6.0 to 0.6.10.post1"),
        (("~=0.6.0",), "0.6.0 to 0.6.10.post1"),
        (("!=0.6.10",), "0.5.3 to 0.6.0, 0.6.10.post1 to 0.7.4"),
        (("0.5.3", "0.7.4"), "0.5.3, 0.7.4"),
        (("0.5.3, 0.7.4",), "0.5.3, 0.7.4"),
        ((">=0.7", "<0.6"), "0.5.3, 0.7.2 to 0.7.4"),
        (("all",), "0.5.3 to 0.7.4"),
        (("newest",), "0.7.4"),
    ],
)
def test_what_is_asked_for(against: tuple[str, ...], expected: str) -> None:
    assert versions(chosen(*against)) == expected
    assert chosen(*against).source == f"--against {' '.join(against)}"


def test_specifiers_for_another_target_do_not_count(tmp_path: Path) -> None:
    assert versions(chosen("other>=1", folder=tmp_path)) == "0.7.4"
    assert chosen("other>=1", "flash-kiln>=0.6", "more<2").source == "--against flash-kiln>=0.6"
    assert versions(chosen("other>=1", ">=0.7.3")) == "0.7.4"


@pytest.mark.parametrize(
    ("against", "message", "hint"),
    [
        ("0.6.11", "release 0.6.11 of flash-kiln is not known", "near it are 0.6.10.post1 and 0.7.2"),
        ("==0.6.11", "release 0.6.11 of flash-kiln is not known", "near it are 0.6.10.post1 and 0.7.2"),
        ("flash-kiln==0.8", "release 0.8 of flash-kiln is not known", "the newest known is 0.7.4"),
        ("0.1", "release 0.1 of flash-kiln is not known", "near it are 0.5.3; known are 0.5.3 to 0.7.4"),
        (
            ">=1",
            "'>=1' selects no known release of flash-kiln",
            "known are 0.5.3 to 0.7.4; releases of another library are asked for by its name, as in 'NAME>=1'",
        ),
        ("", "an empty text selects no release", "write it as in"),
        (">=x", "'>=x' is not a version specifier", "write it as in '>=0.5.3' or '0.7.4'"),
        ("=>0.6", "'=>0.6' is not a version specifier", "write it"),
        ("flash-kiln", "'flash-kiln' names no release", "write it as in 'flash-kiln>=1.0'"),
        ("flash-kiln 0.7", "release 0.7 of flash-kiln is not known", "near it are"),
    ],
)
def test_what_makes_no_sense_is_told(against: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(against)
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint)


def test_a_name_that_is_no_target() -> None:
    check_names([">=1", "0.7.4", "flash_kiln>=1", "all"], [LIB])
    with pytest.raises(UsageError) as caught:
        check_names(["flash-kin>=1"], [LIB])
    assert caught.value.message == "'flash-kin' in 'flash-kin>=1' is no target"
    assert caught.value.hint == "did you mean flash-kiln?"


def test_configuration_comes_before_what_is_declared(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("flash-kiln==0.6.0\n")
    found = chosen(configured=(">=0.7",), folder=tmp_path)
    assert (versions(found), found.source) == ("0.7.2 to 0.7.4", "'against' in pyproject.toml")


def test_nothing_declared_is_the_newest(tmp_path: Path) -> None:
    found = chosen(folder=tmp_path)
    assert (versions(found), found.declared) == ("0.7.4", False)
    assert found.source == "no requirement was found, so the newest release, 0.7.4"


def test_no_known_release() -> None:
    with pytest.raises(UsageError, match="no release of flash-kiln is known"):
        choose(LIB, Timeline(()))


PYPROJECT = """\
[project]
name = "engine"
dependencies = ["numpy", {}]
[project.optional-dependencies]
gpu = [{}]
"""


def declare(folder: Path, always: str = "", extra: str = "") -> CheckedRange:
    text = PYPROJECT.format(always, extra)
    (folder / "pyproject.toml").write_text(text)
    return chosen(folder=folder)


@pytest.mark.parametrize(
    ("always", "extra", "expected"),
    [
        ("'flash_kiln==0.6.10.post1'", "", "0.6.10.post1"),
        ("'Flash.Kiln[cu13]>=0.6 ; python_version > \"3.8\"'", "", "0.6.0 to 0.7.4"),
        ("", "'flash-kiln~=0.6.0', 'flash-kiln==0.7.2'", "0.6.0 to 0.7.2"),
        ("'flash-kiln>=0.6'", "'flash-kiln==0.7.2'", "0.6.0 to 0.7.4"),
        ("'flash-kiln>=0.6', 'flash-kiln<0.7'", "", "0.6.0 to 0.6.10.post1"),
        ("'flash-kiln==0.6.10+cu130'", "", "0.6.10"),
    ],
)
def test_what_the_project_declares(tmp_path: Path, always: str, extra: str, expected: str) -> None:
    assert versions(declare(tmp_path, always, extra)) == expected


def test_the_source_is_told_in_full(tmp_path: Path) -> None:
    found = declare(tmp_path, "'flash_kiln[cu13]==0.7.2'")
    assert found.source == "engine's own requirement flash_kiln==0.7.2 (pyproject.toml)"


def noticed(found: CheckedRange) -> list[tuple[str, int, str]]:
    return [(notice.path, notice.line, notice.message) for notice in found.notices]


@pytest.mark.parametrize(
    ("requirement", "kind", "nearest"),
    [
        ("flash-kiln==0.9", "release", "0.7.4"),
        ("flash_kiln==0.6.10rc1", "pre-release", "0.6.10"),
        ("flash-kiln==0.6.10.post7", "release", "0.6.10.post1"),
        ("flash-kiln==0.7.3.dev20260101+cu130", "pre-release", "0.7.2"),
        ("flash-kiln==0.1", "release", "0.5.3"),
    ],
)
def test_a_pin_nobody_knows_is_said_and_the_nearest_is_taken(
    tmp_path: Path, requirement: str, kind: str, nearest: str
) -> None:
    found = declare(tmp_path, f"'{requirement}'")
    assert versions(found) == nearest
    said = f"`{requirement}` pins a {kind} that is not recorded; {nearest}, the nearest one, is checked in its place"
    assert noticed(found) == [("pyproject.toml", 3, said)]
    assert found.stand_in == found.releases, "nobody asks for that one"


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        (
            "flash-kiln @ git+https://somebody:secret@host.org/kiln@main",
            "`flash-kiln @ git+https://host.org/kiln@main` is no release of an index, so nothing is known of it",
        ),
        (
            "flash-kiln>=0.9",
            "engine's own requirement flash-kiln>=0.9 (pyproject.toml) selects no known release",
        ),
    ],
)
def test_what_selects_no_release_is_said_and_the_newest_is_taken(tmp_path: Path, requirement: str, said: str) -> None:
    found = declare(tmp_path, f"'{requirement}'")
    assert versions(found) == "0.7.4"
    assert noticed(found) == [
        ("pyproject.toml", 3, f"{said}; the newest release, 0.7.4, is checked in its place"),
    ]
    assert found.stand_in == found.releases


def test_a_requirement_of_any_release_is_the_newest(tmp_path: Path) -> None:
    found = declare(tmp_path, "'flash-kiln'")
    assert (versions(found), found.notices) == ("0.7.4", ())
    assert found.source == "engine's own requirement flash-kiln (pyproject.toml) names no release, so the newest, 0.7.4"


def test_a_pin_that_is_known_beside_one_that_is_not(tmp_path: Path) -> None:
    found = declare(tmp_path, "", "'flash-kiln==0.6.0', 'flash-kiln==0.9'")
    assert (versions(found), TIMELINE.describe(found.stand_in)) == ("0.6.0, 0.7.4", "0.7.4")
    # What no extra changes is not in doubt.
    assert declare(tmp_path, "'flash-kiln==0.6.0'", "'flash-kiln==0.9'").notices == ()


def test_requirements_that_contradict_each_other_are_alternatives(tmp_path: Path) -> None:
    assert versions(declare(tmp_path, "'flash-kiln==0.6.0', 'flash-kiln==0.7.2'")) == "0.6.0, 0.7.2"


def test_metadata_of_an_unpacked_wheel_is_found_from_below(tmp_path: Path) -> None:
    info = tmp_path / "engine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: engine\nVersion: 1.0\nRequires-Dist: flash_kiln==0.6.0\n"
        "Requires-Dist: flash-kiln==0.9; extra == 'next'\n\nRequires-Dist: flash-kiln==0.5.3\n"
    )
    below = tmp_path / "engine/layers"
    below.mkdir(parents=True)
    for folder in (tmp_path, below):
        found = chosen(folder=folder)
        assert versions(found) == "0.6.0"
        assert found.source.startswith("engine's own requirement flash_kiln==0.6.0 (METADATA)")


def test_an_sdists_pkg_info_speaks_where_pyproject_does_not(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'engine'\ndynamic = ['dependencies']\n")
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: engine\nRequires-Dist: flash-kiln==0.7.2\n")
    assert versions(chosen(folder=tmp_path)) == "0.7.2"


def test_setup_cfg(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[metadata]\nname = engine\n[options]\ninstall_requires =\n    numpy\n    flash-kiln>=0.7\n"
        "[options.extras_require]\nold = flash-kiln<0.6\n"
    )
    assert versions(chosen(folder=tmp_path)) == "0.7.2 to 0.7.4"


def test_requirements_files_are_alternatives(tmp_path: Path) -> None:
    folder = tmp_path / "requirements"
    folder.mkdir()
    (folder / "cuda.txt").write_text(
        "# flash-kiln==0.5.3\n-r common.txt\n--extra-index-url https://example.org\n"
        "flash-kiln==0.7.2 --hash=sha256:00  # as the image\n"
    )
    (folder / "old.txt").write_text("flash_kiln==0.6.0 \\\n  --hash=sha256:00\n")
    (folder / "notes.txt").write_text("not a requirement at all\n")
    found = chosen(folder=tmp_path)
    assert versions(found) == "0.6.0, 0.7.2"
    assert found.source.endswith("flash-kiln==0.7.2 (requirements/cuda.txt), flash_kiln==0.6.0 (requirements/old.txt)")


def test_a_repository_of_several_projects(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, pin in (("kernels", "numpy"), ("python", "flash-kiln==0.6.10")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f"[project]\nname = 'engine'\ndependencies = ['{pin}']\n")
    assert versions(chosen(folder=tmp_path)) == "0.6.10"


def test_requirements_above_the_project_are_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("flash-kiln==0.6.0\n")
    project = tmp_path / "engine"
    (project / "src").mkdir(parents=True)
    (project / "pyproject.toml").write_text("[project]\nname = 'engine'\n")
    assert chosen(folder=project / "src").declared is False
    assert versions(chosen(folder=tmp_path)) == "0.6.0"


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "PKG-INFO", "requirements.txt"])
def test_files_that_cannot_be_read_declare_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe[[[\x00 flash-kiln==0.6.0")
    assert chosen(folder=tmp_path).declared is False


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        (
            "pyproject.toml",
            "[project\ndependencies = ['flash_kiln==0.6.0']\n",
            1,
            "not valid TOML: expected ']' at the end of a table declaration",
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires = flash-kiln==0.6.0\n[options]\n",
            3,
            "section 'options' already exists",
        ),
    ],
)
def test_a_broken_declaration_is_told(tmp_path: Path, name: str, text: str, line: int, said: str) -> None:
    (tmp_path / name).write_text(text)
    requirements = Requirements(tmp_path, [LIB])
    assert requirements.own(LIB) == ()
    assert [(each.path, each.line, each.message, each.about) for each in requirements.notices] == [
        (name, line, f"{said}; what it requires of flash-kiln is not known", LIB)
    ]
    # What does not even mention the library declares nothing of it, however it is meant.
    (tmp_path / name).write_text(text.replace("kiln", "gordon"))
    other = Requirements(tmp_path, [LIB])
    assert (other.own(LIB), other.notices) == ((), ())


def test_a_line_that_is_no_requirement_is_told(tmp_path: Path) -> None:
    text = "flash-kiln=>0.6.0\nflash_kiln=0.6\nflash-kiln-tools=>1\nother=>1\n"
    (tmp_path / "requirements.txt").write_text(text)
    requirements = Requirements(tmp_path, [LIB])
    assert requirements.own(LIB) == ()
    assert [(each.line, each.message) for each in requirements.notices] == [
        (line, "this is no requirement; what it requires of flash-kiln is not known") for line in (1, 2)
    ]


def test_included_requirements_are_as_firm_as_what_includes_them(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r deps/cuda.txt\n")
    (tmp_path / "deps").mkdir()
    (tmp_path / "deps/cuda.txt").write_text("flash-kiln==0.6.0\n")
    found = chosen(folder=tmp_path)
    assert versions(found) == "0.6.0"
    assert found.source == f"{tmp_path.name}'s own requirement flash-kiln==0.6.0 (deps/cuda.txt)"
    (declared,) = Requirements(tmp_path, [LIB]).own(LIB)
    assert (declared.path, declared.line, declared.column, declared.end_column) == ("deps/cuda.txt", 1, 1, 18)
    assert declared.always


def test_an_include_that_is_not_there_may_hold_the_requirement(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\n-r deps/cuda.txt\n-r https://example.org/more.txt\n")
    found = chosen(folder=tmp_path)
    assert found.declared is False
    assert [(each.path, each.line, each.message) for each in found.notices] == [
        ("requirements.txt", 2, "it includes `deps/cuda.txt`, which is not there")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "numpy\nflash-kiln \\\n  ==0.6.0 \\\n  --hash=sha256:00\n",
        "numpy\nflash-kiln\\\n# why\n\n",
        "numpy\nflash-kiln==0.6.0 \\\n",
    ],
)
def test_a_requirement_goes_on_behind_a_backslash(tmp_path: Path, text: str) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    (declared,) = Requirements(tmp_path, [LIB]).own(LIB)
    wanted = "flash-kiln==0.6.0" if "0.6.0" in text else "flash-kiln"
    assert (declared.requirement, declared.line, declared.column) == (wanted, 2, 1)


@pytest.mark.parametrize(
    "line",
    [
        "git+https://example.org/kiln@v1#egg=flash_kiln",
        "-e git+https://example.org/kiln@v1#subdirectory=x&egg=flash_kiln",
    ],
)
def test_an_url_that_names_the_library(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"{line}\n")
    (declared,) = Requirements(tmp_path, [LIB]).own(LIB)
    assert declared.requirement == "flash_kiln @ git+https://example.org/kiln@v1"


def test_what_is_pinned_anywhere_in_the_project_is_found(tmp_path: Path) -> None:
    """What installs the library may stand in no file that a package declares its dependencies in."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "docker/gpu").mkdir(parents=True)
    (tmp_path / "docker/gpu/Dockerfile").write_text("FROM base\nRUN pip install flash-kiln==0.6.0\n")
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci/constraints.txt").write_text("flash-kiln==0.7.2\n")
    assert versions(chosen(folder=tmp_path)) == "0.6.0, 0.7.2"


ALIASES = {"Flash_Kiln_Paddle": LIB}


@pytest.mark.parametrize(
    ("files", "expected", "source"),
    [
        (
            {"pyproject.toml": '[project]\nname = "engine"\ndependencies = ["flash-kiln-paddle==0.6.10"]\n'},
            "0.6.10",
            "engine's own requirement flash-kiln-paddle==0.6.10 (pyproject.toml)",
        ),
        ({"requirements.txt": "flash_kiln.paddle<0.6\n"}, "0.5.3", None),
        ({"Dockerfile": "FROM a\nRUN pip install flash-kiln-paddle==0.7.2\n"}, "0.7.2", None),
        # A longer name is another distribution, and so is a shorter one.
        ({"requirements.txt": "flash-kiln-paddle-tools==0.5.3\nflash==0.5.3\n"}, "0.7.4", None),
    ],
)
def test_a_fork_is_declared_by_its_own_name(
    tmp_path: Path, files: dict[str, str], expected: str, source: str | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = choose(LIB, TIMELINE, requirements=Requirements(tmp_path, [LIB], aliases=ALIASES))
    assert versions(found) == expected
    assert source is None or found.source == source


def test_a_release_that_only_the_fork_has_is_said(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("flash-kiln-paddle==0.6.0.1\n")
    found = choose(LIB, TIMELINE, requirements=Requirements(tmp_path, [LIB], aliases=ALIASES))
    assert versions(found) == "0.6.0"
    said = "`flash-kiln-paddle==0.6.0.1` pins a release that is not recorded; 0.6.0, the nearest one, is checked"
    assert [notice.message for notice in found.notices] == [f"{said} in its place"]
