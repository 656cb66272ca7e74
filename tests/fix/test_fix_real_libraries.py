"""Programs and a real package that broke when a library moved on, fixed, and run on real releases of both sides.

The histories are read from the package index, as for any library that nobody has set up.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli_process import run

pytestmark = [pytest.mark.network, pytest.mark.slow]


@dataclass(frozen=True)
class Case:
    """A program, the library it is fixed for, and the releases it is run on; `beside` is what else is installed.

    `package` is a package of the index that is fixed as well, and `worked` are the releases the program ran on before.
    """

    name: str
    program: str
    library: str
    against: str
    releases: tuple[str, ...]
    worked: tuple[str, ...]
    beside: tuple[str, ...] = ()
    package: str = ""
    unsafe: bool = False


JINJA = """\
from jinja2 import Environment, Markup, contextfilter, environmentfunction, escape


@contextfilter
def shout(context, value):
    return f"{value}{context['mark']}".upper()


@environmentfunction
def name_of(environment):
    return type(environment).__name__


env = Environment()
env.filters["shout"] = shout
env.globals["name_of"] = name_of
print(env.from_string("{{ 'hi' | shout }} {{ name_of() }}").render(mark="!"))
print(Markup("<b>%s</b>") % escape("<x>"))
"""

URLLIB3 = """\
import urllib3
from urllib3.util.retry import Retry

retries = Retry(total=3, method_whitelist=["GET", "PUT"], backoff_factor=0.5)
pool = urllib3.PoolManager(retries=retries)
print(retries.total, [value for key, value in vars(retries).items() if key in ("allowed_methods", "method_whitelist")])
"""

CLICK = """\
import click
from click.testing import CliRunner


@click.command()
@click.argument("name")
def hello(name):
    click.echo(f"hello {name}")
    click.echo("done", err=True)


def main():
    runner = CliRunner(mix_stderr=False)
    result = runner.invoke(hello, ["x"])
    print(result.exit_code, repr(result.stdout), repr(result.stderr))


main()
"""

TRIO = """\
import trio
from trio.hazmat import checkpoint, current_task


async def main():
    await checkpoint()
    print(type(current_task()).__name__)


trio.run(main)
"""

FLASK = """\
import flask

print(flask.escape("<x>"), flask.Markup("<b>"), flask.json.dumps({"a": 1}))
"""

CASES = (
    Case("jinja2", JINJA, "jinja2", ">=2.11,<3.2", ("3.0.3", "3.1.6"), ("3.0.3",), ("markupsafe==2.1.5",)),
    Case(
        "urllib3",
        URLLIB3,
        "urllib3",
        ">=1.25.11,<2.3",
        ("1.25.11", "1.26.20", "2.2.3"),
        ("1.25.11", "1.26.20"),
        unsafe=True,
    ),
    Case("click", CLICK, "click", ">=8.1,<8.3", ("8.1.8", "8.2.1"), ("8.1.8",), unsafe=True),
    Case(
        "trio",
        TRIO,
        "trio",
        ">=0.13,<0.23",
        ("0.14.0", "0.16.0", "0.22.2"),
        ("0.14.0", "0.16.0"),
        ("attrs", "sortedcontainers", "async_generator", "idna", "outcome", "sniffio", "exceptiongroup"),
    ),
    Case(
        "flask",
        FLASK,
        "jinja2",
        ">=2.11,<3.2",
        ("3.0.3", "3.1.6"),
        ("3.0.3",),
        ("markupsafe==2.1.5", "werkzeug==1.0.1", "itsdangerous==1.1.0", "click==7.1.2"),
        package="flask==1.1.4",
    ),
)


def install(folder: Path, requirements: Sequence[str]) -> Path:
    """Put releases into a folder, from wheels alone: nothing of them runs."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--target", str(folder), *requirements], check=True, capture_output=True)
    return folder


def printed(program: Path, *places: Path) -> str | None:
    """What the program prints with these on its path; None where it fails."""
    path = ":".join(map(str, places))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program.name],
        cwd=program.parent,
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_it_does_the_same_on_every_release(tmp_path: Path, case: Case) -> None:
    home = tmp_path / "project"
    home.mkdir()
    program = home / "main.py"
    program.write_text(case.program)
    if case.package:
        install(home, [case.package])
    installed = {r: install(tmp_path / r, [f"{case.library}=={r}", *case.beside]) for r in case.releases}
    before = {release: printed(program, home, place) for release, place in installed.items()}
    assert [release for release, text in before.items() if text is not None] == list(case.worked)
    options = ["--against", f"{case.library}{case.against}", *(["--unsafe"] if case.unsafe else [])]
    done = run("fix", "--write", *options, cwd=home, limit=None)
    assert done.status == 0, done
    after = {release: printed(program, home, place) for release, place in installed.items()}
    for release, text in before.items():
        assert after[release] == text if text is not None else after[release] is not None, release
    again = run("fix", *options, cwd=home, limit=None)
    assert again.out == "", again
