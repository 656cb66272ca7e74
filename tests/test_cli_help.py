"""The help: every example in it is a command that the program accepts, and completion works in the shells it names."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from driftwatch.cli.program import program
from tests.cli_process import run, surroundings
from tests.conftest import ROOT


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = list(commands(program))


def examples(text: str) -> list[list[str]]:
    """The commands in a text; what stands after several blanks explains one."""
    found = re.findall(r"(?m)^\s*(?:\$ )?(driftwatch [^\n]+)$", text)
    return [shlex.split(re.split(r"\s{3,}|\s+#", line)[0]) for line in found]


EXAMPLES = [
    (" ".join(path) or "driftwatch", words)
    for path, command in [((), program), *COMMANDS]
    for words in examples(command.epilog or "")
]
DOCUMENTED = [
    (path.relative_to(ROOT).as_posix(), words)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for block in re.findall(r"(?s)```(?:sh|bash|console)\n(.*?)```", path.read_text(encoding="utf-8"))
    for words in examples(block)
]


def parse(words: list[str]) -> None:
    """Parse a command line down to the command that would run, which then does not."""
    command: click.Command = program
    name, rest = words[0], words[1:]
    parent: click.Context | None = None
    while True:
        context = command.make_context(name, list(rest), parent=parent)
        if not isinstance(command, click.Group):
            return
        # Where the name of the subcommand is kept differs between releases of click.
        held = getattr(context, "_protected_args", None)
        held = getattr(context, "protected_args", []) if held is None else held
        name, found, rest = command.resolve_command(context, [*held, *context.args])
        assert found is not None
        command, parent = found, context


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=" ".join)
def test_every_command_has_a_help(path: tuple[str, ...]) -> None:
    command = dict(COMMANDS)[path]
    assert command.help and command.help.strip().endswith(".")
    undocumented = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert undocumented == []
    # In a list of commands it is one line, whole.
    (line,) = command.help.strip().partition("\n\n")[0].splitlines()
    assert command.get_short_help_str(limit=64) in (line, line.removesuffix(".")), line


@pytest.mark.parametrize(
    ("where", "words"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_an_example_of_the_help_is_a_command(where: str, words: list[str]) -> None:
    parse(words)


@pytest.mark.parametrize(
    ("where", "words"), DOCUMENTED, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_an_example_of_the_documents_is_a_command(where: str, words: list[str]) -> None:
    parse(words)


def test_a_wrong_example_would_be_found() -> None:
    assert len(EXAMPLES) > 20 and len(DOCUMENTED) > 5
    with pytest.raises(click.UsageError):
        parse(["driftwatch", "scan", "--no-such-option"])
    with pytest.raises(click.UsageError):
        parse(["driftwatch", "snapshot", "forget"])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell(shell: str) -> None:
    made = run(environment={"_DRIFTWATCH_COMPLETE": f"{shell}_source"})
    assert made.status == 0
    assert "_DRIFTWATCH_COMPLETE" in made.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=made.out, text=True, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("driftwatch ", {"scan", "baseline", "config", "watch", "explain"}),
        ("driftwatch scan --di", {"--diff-base"}),
        ("driftwatch scan --format s", {"sarif"}),
        ("driftwatch baseline ", {"write"}),
        ("driftwatch explain DW10", {"DW101", "DW102"}),
        ("driftwatch explain missing-n", {"DW201"}),
        ("driftwatch scan --select DW101,dw2", {"DW101,DW201", "DW101,DW202"}),
        ("driftwatch scan --ignore ", {"DW101", "DW601"}),
        ("driftwatch history allreduce_f", {"allreduce_fusion"}),
        ("driftwatch history flashinfer.comm.Moe", {"flashinfer.comm.MoeAlltoAll"}),
        ("driftwatch diff 0.6.1", {"0.6.1", "0.6.10"}),
        ("driftwatch diff 0.6.1 0.7.", {"0.7.2.post1"}),
        ("driftwatch scan --against ", {"all", "newest", "flashinfer-python>=", "0.6.0"}),
        ("driftwatch scan --against '>=0.6.0,<0.7.", {">=0.6.0,<0.7.2.post1"}),
        ("driftwatch matrix . --against flashinfer-python>=0.6.1", {"flashinfer-python>=0.6.10"}),
        ("driftwatch snapshot verify 0.6.1", {"0.6.10"}),
    ],
)
def test_completion_completes(line: str, wanted: set[str]) -> None:
    words = line.split(" ")
    own = {
        "_DRIFTWATCH_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = run(environment=surroundings(own))
    assert wanted <= {row.partition(",")[2] for row in done.out.splitlines()}, done


def test_completion_is_silent_about_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "driftwatch.toml").write_text("nonsense = [\n")
    own = {"_DRIFTWATCH_COMPLETE": "bash_complete", "COMP_WORDS": "driftwatch history all", "COMP_CWORD": "2"}
    done = run(cwd=tmp_path, environment=surroundings(own))
    assert (done.status, done.out.strip(), done.err) == (0, "", "")
