"""The index in use is the user's own: environment, then pip's files, in pip's order; nothing secret is ever shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.errors import IndexUnavailableError
from driftwatch.snapshot.sources.index_settings import PYPI, IndexSettings
from driftwatch.snapshot.sources.transport import public_url, without_credentials


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment with nothing of this machine's configuration in it."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    for variable in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(variable)
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "user"),
        "XDG_CONFIG_DIRS": str(tmp_path / "system"),
    }


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_pip_before_uv(home: dict[str, str]) -> None:
    env = home | {"UV_DEFAULT_INDEX": "https://uv.example/simple", "UV_INDEX_URL": "https://old.example/simple"}
    assert IndexSettings.from_environment(env).index_url == "https://uv.example/simple"
    env["PIP_INDEX_URL"] = "https://pip.example/simple"
    assert IndexSettings.from_environment(env).index_url == "https://pip.example/simple"
    del env["PIP_INDEX_URL"], env["UV_DEFAULT_INDEX"]
    assert IndexSettings.from_environment(env).index_url == "https://old.example/simple"


def test_uv_names_its_indexes(home: dict[str, str]) -> None:
    env = home | {
        "UV_DEFAULT_INDEX": "mine=https://uv.example/simple?a=b",
        "UV_INDEX": "one=https://a/s two=https://b/s",
    }
    settings = IndexSettings.from_environment(env)
    assert settings.index_url == "https://uv.example/simple?a=b"
    assert settings.extra_urls == ("https://a/s", "https://b/s")


def test_files_later_over_earlier(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "system/pip/pip.conf", "[global]\nindex-url = https://system/simple\ntimeout = 3\n")
    assert IndexSettings.from_environment(home).index_url == "https://system/simple"
    write(tmp_path / ".pip/pip.conf", "[global]\nindex_url = https://legacy/simple\n")
    assert IndexSettings.from_environment(home).index_url == "https://legacy/simple"
    write(tmp_path / "user/pip/pip.conf", "[global]\nindex-url = https://user/simple\n")
    assert IndexSettings.from_environment(home).index_url == "https://user/simple"
    write(tmp_path / "venv/pip.conf", "[global]\nindex-url = https://venv/simple\n")
    assert IndexSettings.from_environment(home).index_url == "https://venv/simple"
    named = write(tmp_path / "named.conf", "[global]\nindex-url = https://named/simple\n")
    settings = IndexSettings.from_environment(home | {"PIP_CONFIG_FILE": str(named)})
    assert settings.index_url == "https://named/simple"
    assert settings.timeout == 3
    assert (
        IndexSettings.from_environment(home | {"PIP_INDEX_URL": "https://env/simple"}).index_url == "https://env/simple"
    )


def test_a_named_file_stands_for_the_users_own(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "user/pip/pip.conf", "[global]\nindex-url = https://user/simple\nproxy = http://proxy\n")
    named = write(tmp_path / "named.conf", "[global]\ncert = /ca.pem\n")
    settings = IndexSettings.from_environment(home | {"PIP_CONFIG_FILE": str(named)})
    assert (settings.index_url, settings.proxy, settings.certificates) == (PYPI, None, "/ca.pem")


def test_no_files_at_all(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "user/pip/pip.conf", "[global]\nindex-url = https://user/simple\n")
    assert IndexSettings.from_environment(home | {"PIP_CONFIG_FILE": os.devnull}) == IndexSettings()


def test_a_broken_file_is_one_source_less(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "system/pip/pip.conf", "[global]\nindex-url = https://system/simple\n")
    write(tmp_path / "user/pip/pip.conf", "index-url without a section")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/pip.conf").write_bytes(b"\xff\xfe\x00")
    assert IndexSettings.from_environment(home).index_url == "https://system/simple"


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_no_index(home: dict[str, str], value: str) -> None:
    assert IndexSettings.from_environment(home | {"PIP_NO_INDEX": value}).disabled


@pytest.mark.parametrize("value", ["soon", "-4", "0", "1e9", "nan"])
def test_a_timeout_that_makes_no_sense(home: dict[str, str], value: str) -> None:
    assert IndexSettings.from_environment(home | {"PIP_DEFAULT_TIMEOUT": value}).timeout == IndexSettings().timeout


def test_a_folder_is_an_index(home: dict[str, str], tmp_path: Path) -> None:
    assert IndexSettings.from_environment(home | {"PIP_INDEX_URL": str(tmp_path)}).index_url == tmp_path.as_uri()


ASK_PIP = """
from pip._internal.commands import create_command
options, _ = create_command("install").parse_args([])
print(options.index_url, *options.extra_index_urls, *options.trusted_hosts, sep="\\n")
print(options.cert, options.proxy, float(options.timeout), sep="\\n")
"""
FILES = {
    "system/pip/pip.conf": "[global]\nindex-url = https://system/s\ntimeout = 7\n[install]\ncert = /install.pem\n",
    ".pip/pip.conf": "[global]\nindex-url = https://legacy/s\nextra-index-url = https://x/s\n  https://y/s\n",
    "user/pip/pip.conf": "[global]\ncert = /user.pem\nproxy = http://proxy\ntrusted-host = a b\n[download]\nindex-url = https://no/s\n",
}


@pytest.mark.parametrize(
    "env", [{}, {"PIP_INDEX_URL": "https://env/s"}, {"PIP_TIMEOUT": "9"}, {"PIP_CERT": "/env.pem"}]
)
@pytest.mark.parametrize("leave_out", [None, *FILES])
def test_agrees_with_pip_itself(
    home: dict[str, str], tmp_path: Path, env: dict[str, str], leave_out: str | None
) -> None:
    """What pip's own option parser makes of the same files and variables."""
    for name, text in FILES.items():
        if name != leave_out:
            write(tmp_path / name, text)
    done = subprocess.run(
        [sys.executable, "-c", ASK_PIP], env={**os.environ, **home, **env}, capture_output=True, text=True, check=False
    )
    if "No module named 'pip'" in done.stderr:
        pytest.skip("this Python has no pip")
    ours = IndexSettings.from_environment(home | env)
    lines = [
        ours.index_url.rstrip("/"),
        *ours.extra_urls,
        *ours.trusted_hosts,
        ours.certificates,
        ours.proxy or "",
        ours.timeout,
    ]
    expected = done.stdout.replace("None", "").splitlines()
    # A timeout that nobody sets is each tool's own.
    assert [str(line or "") for line in lines[:-1]] == [line.rstrip("/") for line in expected[:-1]], done.stderr
    assert ours.timeout == float(expected[-1]) or ours.timeout == IndexSettings().timeout


def test_secrets_are_not_in_a_repr() -> None:
    settings = IndexSettings("https://u:hunter2@h/simple", ("https://u:hunter2@g/",), proxy="http://u:hunter2@p")
    assert "hunter2" not in repr(settings)
    assert public_url("https://u:hunter2@h:8/a/b?token=hunter2#hunter2") == "https://h:8/a/b"
    assert without_credentials("https://u%40x:p%2Fq@h/a?b") == ("https://h/a?b", ("u@x", "p/q"))
    assert without_credentials("https://h/a") == ("https://h/a", None)


def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(IndexUnavailableError, match="the address of the package index is not a URL") as caught:
        IndexSettings.from_environment({"PIP_INDEX_URL": "http://user:secret@[::1"})
    assert "secret" not in str(caught.value)


def test_a_configuration_of_pip_that_never_ends_is_not_read() -> None:
    assert IndexSettings.from_environment({"PIP_CONFIG_FILE": "/dev/zero"}).index_url.startswith("https://")
