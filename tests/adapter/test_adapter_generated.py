"""The generated file: deterministic, formatted, typed, alone; stale or edited files told apart; nothing injected."""

from __future__ import annotations

import ast
import difflib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.adapter.embed import EmbedError, embed
from driftwatch.adapter.literal import literal
from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.render import body_digest, render
from driftwatch.adapter.write import check_adapter, make_adapter
from driftwatch.errors import ConfigError, InputError, SnapshotError, UsageError
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Ref, Signature, Snapshot, Symbol, SymbolKind
from driftwatch.targets.target import Target

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_the_same_input_gives_the_same_bytes(history: History, target: Target, adapter_file: Path) -> None:
    again = make_adapter(history, target)
    assert again.text == adapter_file.read_text(encoding="utf-8")
    assert again.library == f"flashinfer-python 0.2.7.post1 to {history.timeline.versions[-1]}"


@pytest.fixture(scope="module")
def split(history: History, target: Target, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of two files; the path is that of the first."""
    folder = tmp_path_factory.mktemp("split")
    made = make_adapter(history, target, split="fi_runtime")
    assert made.runtime is not None
    (folder / "fi.py").write_text(made.text, encoding="utf-8")
    (folder / made.runtime[0]).write_text(made.runtime[1], encoding="utf-8")
    return folder / "fi.py"


def test_it_is_formatted(adapter_file: Path, split: Path) -> None:
    files = [adapter_file, split, split.with_name("fi_runtime.py")]
    options = ["--isolated", "--line-length", "88"]
    subprocess.run([tool("ruff"), "format", "--check", *options, *map(str, files)], check=True)
    subprocess.run([tool("ruff"), "check", *options, "--select", "E,F,I,W", *map(str, files)], check=True)
    assert max(len(line) for file in files for line in file.read_text().splitlines()) <= 88


def test_no_code_is_made_at_run_time(adapter_file: Path) -> None:
    tree = ast.parse(adapter_file.read_text(encoding="utf-8"))
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert called.isdisjoint({"exec", "eval", "compile", "__import__"})
    assert "pickle" not in {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}


def test_what_it_takes_of_any_kind_has_its_reason(adapter_file: Path) -> None:
    """Beside each handler for anything stands why: it is round something foreign."""
    lines = adapter_file.read_text(encoding="utf-8").splitlines()
    tree = ast.parse("\n".join(lines))
    broad = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
    ]
    assert broad
    for node in broad:
        assert "#" in lines[node.lineno - 1] or lines[node.lineno].lstrip().startswith("#"), lines[node.lineno - 1]


def test_a_reader_first_sees_what_it_offers_and_knows(adapter_file: Path) -> None:
    text = adapter_file.read_text(encoding="utf-8")
    order = ["# library:", '"""The functions of', "__all__ = [", "DATA: dict", "class Adapter", "\nADAPTER = "]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert '"evidence":' in text[places[3] : places[4]]


# -- as two files ----------------------------------------------------------------------------------------------------


def with_release_after(history: History, version: str) -> History:
    """The history with a further release, in which nothing has changed."""
    timeline = type(history.timeline)((*history.timeline.versions, version))
    last, further = history.timeline.set_of(history.timeline.versions[-1:]), timeline.set_of([version])
    epochs = {
        ref: tuple(e if e.releases.isdisjoint(last) else replace(e, releases=e.releases | further) for e in known)
        for ref, known in history.epochs.items()
    }
    return History(history.distribution, history.module, timeline, epochs)


def test_a_release_that_changes_nothing_is_a_few_lines(history: History, target: Target, split: Path) -> None:
    made = make_adapter(with_release_after(history, "99.0"), target, split="fi_runtime")
    assert made.runtime is not None
    assert made.runtime[1] == split.with_name("fi_runtime.py").read_text()
    changed = [
        line for line in difflib.ndiff(split.read_text().splitlines(), made.text.splitlines()) if line[0] in "+-"
    ]
    assert len(changed) <= 10, changed
    assert '+         "99.0",' in changed


def test_the_two_files_are_checked_together(history: History, target: Target, split: Path, tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("fi.py", "fi_runtime.py"))
    shutil.copy(split, first)
    assert "cannot read" in check_adapter(history, target, first).reasons[0]
    shutil.copy(split.with_name("fi_runtime.py"), second)
    assert check_adapter(history, target, first).current
    second.write_text(second.read_text() + "# mine\n")
    assert check_adapter(history, target, first).reasons == (
        "fi_runtime.py beside it was edited after it was made, or damaged",
    )
    older = second.read_text().replace("# mine\n", "# older\n")
    header, body = older[: older.index('"""')], older[older.index('"""') :]
    second.write_text(header.replace(header.split("# body: ")[1].split()[0], body_digest(body)) + body)
    assert check_adapter(history, target, first).reasons == (
        "fi_runtime.py beside it is not the run time that would be made now",
    )


@pytest.mark.parametrize("package", ["", "engine"])
def test_the_two_files_import_alone_and_in_a_package(package: str, split: Path, tmp_path: Path) -> None:
    folder = tmp_path / package
    folder.mkdir(exist_ok=True)
    for name in ("fi.py", "fi_runtime.py"):
        shutil.copy(split.with_name(name), folder / name)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        f"import {package + '.' if package else ''}fi as fi\n"
        "assert not fi.available('allreduce_fusion')\n"
        "try: fi.allreduce_fusion()\n"
        "except fi.UnavailableFunction: pass\n"
        "else: raise SystemExit('it was called')\n"
    )
    command = [sys.executable, "-I", "-S"]
    subprocess.run([*command, "-c", program, str(tmp_path)], check=True)
    script = [sys.executable, "-E", "-S", str(folder / "fi.py")]  # with its folder on the path, as a script has it
    assert "missing" in subprocess.check_output(script, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("torch", ["", "follow_imports = skip\n"])
def test_it_is_typed(torch: str, adapter_file: Path, tmp_path: Path) -> None:
    """With the types of the torch that is installed, if one is, and without any."""
    config = tmp_path / "mypy.ini"
    config.write_text(f"[mypy]\n[mypy-torch.*]\n{torch}ignore_missing_imports = true\n")
    subprocess.run([tool("mypy"), "--strict", "--config-file", str(config), str(adapter_file)], check=True)


def test_it_imports_the_standard_library_alone(adapter_file: Path) -> None:
    tree = ast.parse(adapter_file.read_text(encoding="utf-8"))
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.If)) for n in ast.walk(f)}
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            top = name.partition(".")[0]
            assert top in sys.stdlib_module_names or (top == "torch" and id(node) in inside), name


def test_alone_without_driftwatch_and_without_torch(adapter_file: Path, tmp_path: Path) -> None:
    """An interpreter that sees the standard library and this one file."""
    shutil.copy(adapter_file, tmp_path / "fi_adapter.py")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import fi_adapter, json\n"
        "assert not any(m.partition('.')[0] in ('driftwatch', 'torch') for m in sys.modules)\n"
        "assert not fi_adapter.available('allreduce_fusion')\n"
        "try: fi_adapter.allreduce_fusion()\n"
        "except fi_adapter.UnavailableFunction as error: assert 'flashinfer' in str(error)\n"
        "else: raise SystemExit('it was called')\n"
        "print(json.dumps(fi_adapter.report()))"
    )
    command = [sys.executable, "-I", "-S"]
    out = subprocess.run([*command, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True).stdout
    assert "No module named 'flashinfer'" in json.loads(out)["installed"]["error"]
    table = subprocess.run(
        [*command, str(tmp_path / "fi_adapter.py")], check=True, capture_output=True, text=True, env={}
    ).stdout
    assert "allreduce_fusion" in table
    assert "missing" in table


# -- check -----------------------------------------------------------------------------------------------------------


def test_an_untouched_file_is_current(history: History, target: Target, adapter_file: Path, tmp_path: Path) -> None:
    assert check_adapter(history, target, adapter_file).current
    windows = tmp_path / "crlf.py"
    windows.write_bytes(adapter_file.read_bytes().replace(b"\n", b"\r\n"))
    assert check_adapter(history, target, windows).current


@pytest.mark.parametrize("preface", ["# SPDX-License-Identifier: Apache-2.0\n", "#!/usr/bin/env python3\n# Ours.\n\n"])
def test_comments_above_it_are_of_those_who_keep_it(
    preface: str, history: History, target: Target, adapter_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "licensed.py"
    path.write_text(preface + adapter_file.read_text())
    assert check_adapter(history, target, path).reasons == ()
    path.write_text("import os\n" + adapter_file.read_text())
    with pytest.raises(InputError, match="no adapter"):
        check_adapter(history, target, path)


def test_an_edited_file_is_told(history: History, target: Target, adapter_file: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.py"
    edited.write_text(adapter_file.read_text().replace('"drop-and-warn"', '"drop"'))
    checked = check_adapter(history, target, edited)
    assert checked.edited
    assert checked.reasons == ("it was edited after it was made, or damaged",)


def test_a_stale_file_is_told_with_the_reason(history: History, target: Target, tmp_path: Path) -> None:
    """Made when 0.7.2.post1 was the newest: the releases and the signatures are others now."""
    timeline = history.timeline
    known = type(timeline)(timeline.versions[:-1])
    old = History(
        history.distribution,
        history.module,
        known,
        {
            ref: tuple(
                replace(e, releases=e.releases & known.all) for e in epochs if not e.releases.isdisjoint(known.all)
            )
            for ref, epochs in history.epochs.items()
        },
    )
    path = tmp_path / "old.py"
    path.write_text(make_adapter(old, target).text)
    checked = check_adapter(history, target, path)
    assert not checked.edited
    assert f"{len(history.timeline)} releases" in checked.reasons[0]
    assert f"{len(known)} releases" in checked.reasons[0]
    narrow = tmp_path / "narrow.py"
    narrow.write_text(make_adapter(history, target, against=">=0.6.0,<0.7", functions=["allreduce_fusion"]).text)
    assert check_adapter(history, target, narrow).current
    assert '        "0.7.4",' not in narrow.read_text()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("# against: ==99", "no known release is selected"),
        ("# against: newest", "'newest' is not a version specifier"),
        ("# functions: allreduce_fusion, gone", "flashinfer.comm.gone is in none of the selected releases"),
    ],
)
def test_a_file_that_cannot_be_made_again(
    line: str, reason: str, history: History, target: Target, adapter_file: Path, tmp_path: Path
) -> None:
    """A header that asks for what is not there: made from other snapshots, or edited. Stale either way."""
    key = line.partition(":")[0]
    path = tmp_path / "odd.py"
    path.write_text(adapter_file.read_text().replace(f"{key}: all", line))
    assert check_adapter(history, target, path).reasons == (f"what it was made for cannot be made now: {reason}",)


def test_a_file_that_is_no_adapter(history: History, target: Target, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("print()\n")
    for path in (other, tmp_path / "none.py"):
        with pytest.raises(InputError):
            check_adapter(history, target, path)


def test_what_cannot_be_made(history: History, target: Target) -> None:
    with pytest.raises(UsageError, match="in none of the selected releases"):
        make_adapter(history, target, functions=["no_such_function"])
    with pytest.raises(UsageError, match="is not a function"):
        make_adapter(history, target, functions=["AllReduceFusionPattern"])
    with pytest.raises(UsageError, match="no known release"):
        make_adapter(history, target, against=">99")


# -- nothing injected ------------------------------------------------------------------------------------------------

HOSTILE = '__import__("os").system("touch owned")'


def one_function(parameter: Parameter) -> History:
    ref = Ref("flashinfer.comm", "allreduce_fusion")
    module = Symbol(Ref("flashinfer.comm", ""), SymbolKind.MODULE)
    symbol = Symbol(ref, SymbolKind.FUNCTION, Signature((parameter,), returns=HOSTILE))
    return merge("flashinfer-python", "flashinfer.comm", [Snapshot("0.6.0", {module.ref: module, ref: symbol})])


def test_a_hostile_default_does_not_reach_the_file(target: Target) -> None:
    hostile = Parameter("input", ParameterKind.POSITIONAL_OR_KEYWORD, default=HOSTILE, annotation=HOSTILE)
    text = make_adapter(one_function(hostile), target, functions=["allreduce_fusion"]).text
    assert "owned" not in text


@pytest.mark.parametrize("name", [HOSTILE, "a\nb", "class", "x=1", '"', ""])
def test_a_hostile_name_is_refused(target: Target, name: str) -> None:
    with pytest.raises(SnapshotError, match="not an identifier"):
        make_adapter(one_function(Parameter(name, ParameterKind.KEYWORD_ONLY)), target, functions=["allreduce_fusion"])


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(PLAIN)
def test_a_literal_evaluates_to_what_it_was(value: Any) -> None:
    again = ast.literal_eval(literal(value))
    assert again == value
    assert repr(again) == repr(value)


@given(st.text())
def test_a_text_in_the_policy_stays_a_text(text: str) -> None:
    (statement,) = ast.parse(f"DATA = {literal({'because': text})}").body
    assert isinstance(statement, ast.Assign)
    assert ast.literal_eval(statement.value) == {"because": text}


def test_what_is_no_plain_data_is_refused() -> None:
    for value in (object(), float("nan"), {1, 2}, b"x", [range(3)]):
        with pytest.raises(TypeError, match="not plain data"):
            literal(value)


def test_modules_that_clash_are_refused() -> None:
    with pytest.raises(EmbedError, match="both define f"):
        embed([("a", '"""A."""\n\n\ndef f(): ...\n'), ("b", '"""B."""\n\n\ndef f(): ...\n')])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1", "unknown key"),
        ("main = 'run-me'", "'main' must be a name, not 'run-me'"),
        ("functions = ['f', 'not a name']", "'functions' must be a list of names"),
        (
            '[[rule]]\nfunctions = ["f"]\nparameters = ["p"]\naction = "hide"\nbecause = "b"\nevidence = "e"',
            "'action' must be one of drop, drop-and-warn, refuse, not 'hide'",
        ),
        ('[[rule]]\nfunctions = ["f"]\nparameters = ["p"]\naction = "drop"\nevidence = "e"', "because"),
        (
            '[[rule]]\nfunctions=["f"]\nparameters=["p"]\naction="drop"\nbecause="b"\nevidence="e"\nequals=["open(1)"]',
            "not a literal",
        ),
        ("= ", "not valid TOML"),
    ],
)
def test_a_policy_that_is_wrong(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_policy(path)


def test_the_policy_speaks_of_what_exists(history: History, target: Target) -> None:
    """A misspelt parameter would be a rule that never holds."""
    assert target.data is not None
    policy = load_policy(target.data / "policy.toml")
    for rule in policy.rules:
        for function in rule.functions:
            names = {
                p.name
                for epoch in history.of(Ref(history.module, function))
                for p in (epoch.symbol.signature or Signature()).parameters
            }
            asked = {*rule.parameters, *rule.needs, *(name for name, _ in rule.given)}
            assert asked <= names, (function, asked - names)
    plan = make_plan(history, policy, history.timeline.all)
    for backend in ("trtllm", "mnnvl"):
        covered = ReleaseSet()
        for row in [r for r in policy.target["regimes"] if r["backend"] == backend] + policy.target["pair"]:
            held = history.timeline.matching(row["releases"])
            assert held.isdisjoint(covered), f"two rows hold for {history.timeline.describe(held & covered)}"
            covered |= held
        assert covered == history.timeline.all
    assert render(plan, policy, policy.functions, {})
