"""A project that lies in wait for whoever looks at it: every trap that goes off leaves a mark.

Modules with the names of what is imported, a repository whose configuration names programs, programs with the names of
those that are started.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli_process import Result, make_studio, surroundings

STARTED = ("git", "nvidia-smi", "python", "python3", "pip", "less", "sh")
SITE = ("click", "driftwatch_plugin", "griffe", "kiln", "libcst", "packaging", "platformdirs", "requests", "rich")
HOOKS = ("sitecustomize", "usercustomize", "conftest", "setup")


@dataclass(frozen=True)
class Trapped:
    """The project, where marks are left, and a place of the person's own."""

    folder: Path
    marks: Path
    home: Path

    def run(self, *arguments: str, **environment: str) -> Result:
        """``driftwatch ARGUMENTS`` in the project, by its console script."""
        script = self.home / "driftwatch"
        if not script.exists():
            # What pip writes: the folder of the script is what Python looks into first.
            script.write_text(
                'import sys\nfrom driftwatch.cli import main\nif __name__ == "__main__":\n    sys.exit(main())\n'
            )
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            cwd=self.folder,
            env=surroundings(
                {"XDG_CACHE_HOME": str(self.home / "cache"), "TMPDIR": str(self.home / "scratch"), **environment}
            ),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            timeout=120,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def standing(self) -> dict[str, bytes | None]:
        """All that has to stay as it is: the project but for what is recorded in it, what it leads to, the scratch."""
        found: dict[str, bytes | None] = {}
        for place in (self.folder, self.outside, self.home / "scratch"):
            for path in sorted(place.rglob("*")):
                own = path.relative_to(place.parent).as_posix()
                if not own.startswith(("project/snapshots/", "project/.git/")):
                    regular = path.is_file() and not path.is_symlink()
                    found[own] = path.read_bytes() if regular else None
        return found

    @property
    def outside(self) -> Path:
        return self.home.parent / "outside"

    @property
    def sprung(self) -> list[str]:
        return sorted(path.name for path in self.marks.iterdir())


def standard_library() -> list[str]:
    """Every module that could be imported from a file of the working folder instead."""
    built_in = {*sys.builtin_module_names, "this", "antigravity", "idlelib", "turtledemo", "test"}
    return sorted(name for name in sys.stdlib_module_names if name not in built_in)


def set_traps(folder: Path) -> Trapped:
    project, marks, home = folder / "project", folder / "marks", folder / "home"
    for each in (project, marks, home, home / "scratch", folder / "outside"):
        each.mkdir()
    make_studio(project)
    (project / "fleet.txt").write_text(".\n")
    spring = "open({path!r}, 'w').close()\nraise SystemExit('a trap went off')\n"
    for name in (*standard_library(), *SITE, *HOOKS):
        (project / f"{name}.py").write_text(spring.format(path=str(marks / f"module {name}")))
    for name in STARTED:
        _program(project / name, marks / f"program {name}")
        _program(project / f"{name}.exe", marks / f"program {name}.exe")
    _repository(project, marks)
    _leads_elsewhere(project, folder / "outside")
    return Trapped(project, marks, home)


def _leads_elsewhere(project: Path, outside: Path) -> None:
    """Links to what is the person's own, to devices, in circles and to nothing; pipes; names like options."""
    (outside / "mine.py").write_text("import kiln\n\nkiln.raku(1)\n")
    (outside / "mine.json").write_text("{}\n")
    folder = project / "leads"
    folder.mkdir()
    (folder / "outside").symlink_to(outside)
    (folder / "mine.py").symlink_to(outside / "mine.py")
    (folder / "circle.py").symlink_to(folder / "circle.py")
    (folder / "circle").symlink_to(folder)
    (folder / "nothing.py").symlink_to(folder / "nowhere")
    (folder / "requirements.txt").symlink_to("/dev/zero")
    for name in ("zero.py", "pyproject.toml"):
        (folder / name).symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.py")
    os.mkfifo(folder / "setup.cfg")
    (folder / "--output=x.py").write_text("import kiln\n")


def _program(path: Path, mark: Path) -> None:
    path.write_text(f"#!/bin/sh\n: > '{mark}'\n")
    path.chmod(0o755)


def _repository(project: Path, marks: Path) -> None:
    """A repository whose configuration, attributes and hooks name programs wherever git would run one."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=project, check=True, capture_output=True)
    tool = project / ".git" / "tool"
    _program(tool, marks / "repository")
    keys = (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "gpg.program",
        "credential.helper",
        "pager.diff-index",
        "pager.ls-tree",
        "alias.rev-parse",
        "alias.ls-tree",
    )
    for key in keys:
        value = f"!{tool}" if key.startswith(("alias", "credential")) else str(tool)
        subprocess.run(["git", "config", key, value], cwd=project, check=True)
    (project / ".git" / "info" / "attributes").write_text("* filter=trap diff=trap\n")
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"):
        _program(project / ".git" / "hooks" / hook, marks / f"hook {hook}")


def imported_by_driftwatch() -> set[str]:
    """The top-level modules that some file of driftwatch imports, the standard library's own among them."""
    spec = importlib.util.find_spec("driftwatch")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    found: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
                found.add(node.module.partition(".")[0])
    return found - {"driftwatch", "__future__", "torch", "flashinfer"}


SEARCHED = f"{os.pathsep}."
"""What a careless ``X=$X:.`` leaves at the end of a search path: the working folder."""
