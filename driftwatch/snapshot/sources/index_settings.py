"""Which package index the user has chosen: the environment's pip and uv variables, then pip's configuration files.

Enters: an environment. Leaves: frozen `IndexSettings`. Nothing here touches the network, and no URL is ever part of a
`repr`, because it may hold a password.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from driftwatch.errors import IndexUnavailableError
from driftwatch.system import atomic_files

PYPI = "https://pypi.org/simple/"
DEFAULT_TIMEOUT = 20.0
_INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
_EXTRA_VARIABLES = ("PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
_TIMEOUT_VARIABLES = ("PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT", "UV_HTTP_TIMEOUT")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The index that answers, those asked after it when it does not know a project, and how to connect.

    `extra_urls` are asked in order, and only about a project that the ones before do not have: a project is never put
    together from two indexes.
    """

    index_url: str = field(default=PYPI, repr=False)
    extra_urls: tuple[str, ...] = field(default=(), repr=False)
    certificates: str | None = None
    client_certificate: str | None = None
    proxy: str | None = field(default=None, repr=False)
    timeout: float = DEFAULT_TIMEOUT
    disabled: bool = False
    trusted_hosts: tuple[str, ...] = ()
    """Hosts, with or without a port, whose certificate the user wants not to be checked."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> IndexSettings:
        """The settings that pip would use in this environment, uv's variables standing in where pip's are not set."""
        env = os.environ if environ is None else environ
        options = _pip_options(env)

        def setting(name: str, *variables: str) -> str | None:
            for variable in variables or (f"PIP_{name.upper().replace('-', '_')}",):
                if env.get(variable, "").strip():
                    return env[variable].strip()
            return options.get(name)

        extra = setting("extra-index-url", *_EXTRA_VARIABLES) or ""
        return cls(
            index_url=_as_url(setting("index-url", *_INDEX_VARIABLES) or PYPI),
            extra_urls=tuple(_as_url(word) for word in extra.split()),
            certificates=setting("cert"),
            client_certificate=setting("client-cert"),
            proxy=setting("proxy"),
            timeout=_seconds(setting("timeout", *_TIMEOUT_VARIABLES) or options.get("default-timeout")),
            trusted_hosts=tuple((setting("trusted-host") or "").split()),
            disabled=(setting("no-index") or "").lower() in ("1", "true", "yes", "on", "y", "t"),
        )


def _as_url(text: str) -> str:
    """A URL without uv's ``name=`` before it; a bare folder becomes a file URL, as pip has it."""
    name, equals, rest = text.partition("=")
    if equals and _URL.match(rest) and re.fullmatch(r"[\w.-]+", name):
        text = rest
    if not _URL.match(text):
        text = Path(text).expanduser().absolute().as_uri()
    try:
        urlsplit(text)
    except ValueError:
        # It may hold a password, and is not shown.
        raise IndexUnavailableError("the address of the package index is not a URL", "check PIP_INDEX_URL") from None
    return text


def _seconds(text: str | None) -> float:
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT
    except ValueError:
        return DEFAULT_TIMEOUT
    return seconds if 0 < seconds < 3600 else DEFAULT_TIMEOUT


def _pip_options(env: Mapping[str, str]) -> dict[str, str]:
    """Options of pip's configuration files, later files over earlier ones, ``[install]`` over ``[global]``."""
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    if env.get("PIP_CONFIG_FILE") == os.devnull:
        return {}
    for path in _pip_files(env):
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(atomic_files.read(path).decode())
        except (OSError, UnicodeDecodeError, configparser.Error):
            # pip itself complains about a file it cannot read; here it only means one source less.
            continue
        for section, found in sections.items():
            if parser.has_section(section):
                found.update((key.replace("_", "-"), value.strip()) for key, value in parser.items(section))
    return sections["global"] | sections["install"]


def _pip_files(env: Mapping[str, str]) -> Iterator[Path]:
    """Where pip looks, in its own order: system-wide, the user's, the virtual environment's, the one named."""
    name = "pip.ini" if os.name == "nt" else "pip.conf"
    shared = env.get("XDG_CONFIG_DIRS", "")
    system = shared.split(os.pathsep) if shared else platformdirs.site_config_dir("", multipath=True).split(os.pathsep)
    yield from (Path(folder, "pip", name) for folder in system if folder)
    if os.name != "nt":
        yield Path("/etc", name)
    named = env.get("PIP_CONFIG_FILE")
    if not (named and Path(named).exists()):
        home = Path(env["HOME"]) if env.get("HOME") else Path.home()
        yield home / ("pip" if os.name == "nt" else ".pip") / name
        base = env.get("XDG_CONFIG_HOME")
        yield (Path(base) if base else Path(platformdirs.user_config_dir("", roaming=True))) / "pip" / name
        if sys.platform == "darwin":
            yield home / ".config" / "pip" / name
    yield Path(sys.prefix, name)
    if named:
        yield Path(named)
