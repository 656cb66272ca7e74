"""Advisories: the data is validated in full, and each of FlashInfer's fires on one call and not on another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driftwatch.binding.refused import names_in
from driftwatch.errors import ConfigError
from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Argument, Constant, Unknown
from driftwatch.rules import advisory
from driftwatch.rules.advisories import Advisory, Condition, Knowledge, knowledge, load
from driftwatch.rules.rule import Context
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.snapshot.sources.fetch import fetch_project
from driftwatch.snapshot.store.store import load as load_history
from driftwatch.system.tables import Table
from driftwatch.targets.target import shipped_targets
from tests.known_releases import said
from tests.made_uses import ALL, KILN, call, passed, releases

(TARGET,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
FLASHINFER = load_history(TARGET.snapshots)
ENTRY: dict[str, Any] = {
    "id": "cracks",
    "symbol": "kiln:cool",
    "releases": ">=2.0",
    "severity": "warning",
    "message": "it cracks",
    "hint": "do not",
    "evidence": ["kiln#12"],
    "when": [{"parameter": "slow", "equals": [False]}],
}
FAILURE: dict[str, Any] = {
    "id": "thermometer",
    "module": "kiln",
    "exception": "RuntimeError",
    "releases": "all",
    "when": "cold",
    "evidence": ["kiln#7"],
}


def read(**tables: Any) -> Knowledge:
    return knowledge(Table(tables, "data.toml"), KILN.timeline)


def test_the_data_is_read() -> None:
    found = read(advisory=[ENTRY], **{"import-failure": [FAILURE]})
    assert found.advisories[0].conditions == (Condition("slow", equals=(False,)),)
    assert found.advisories[0].releases == releases(">=2")
    assert found.import_failures[0].releases == ALL


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"advisories": []}, "data.toml: unknown key 'advisories'"),
        ({"advisory": {}}, "'advisory' must be an array of tables, [[advisory]], not {}"),
        ({"advisory": [{}]}, "data.toml: 'id' is missing in [[advisory]] 1"),
        ({"advisory": [ENTRY, ENTRY]}, "there are two entries 'cracks'"),
        ({"advisory": [{**ENTRY, "when": [{"equal": 1}]}]}, "'equal' in [[when]] 1 of [[advisory]] 'cracks'"),
        ({"advisory": [{**ENTRY, "when": [{"parameter": "slow"}]}]}, "the condition on 'slow' says nothing"),
        ({"advisory": [{**ENTRY, "when": [{"parameter": "slow", "none": False}]}]}, "'none' must be true, or be left"),
        ({"advisory": [{**ENTRY, "when": [{"parameter": "slow", "equals": 1}]}]}, "'equals' must be a list of numbers"),
        ({"advisory": [{**ENTRY, "severity": "bad"}]}, "'severity' must be one of error, warning, note, not 'bad'"),
        ({"advisory": [{**ENTRY, "releases": "new"}]}, "'new' is not a version specifier in [[advisory]] 'cracks'"),
        ({"advisory": [{**ENTRY, "evidence": []}]}, "'evidence' must be a list of at least one reference, not []"),
        ({"advisory": [{**ENTRY, "symbol": []}]}, "'symbol' must be a reference, or a list of some, not []"),
        ({"advisory": [{**ENTRY, "where": "slow >"}]}, "'where' must be an expression, not 'slow >'"),
        ({"advisory": [{**ENTRY, "swallowed": False}]}, "'swallowed' must be true, or be left out, not False"),
        ({"advisory": [{**ENTRY, "when": [{"parameter": "slow", "made-of": ["Fast"]}]}]}, "a list of import paths"),
        (
            {"kernels": [{"id": "k", "symbol": "kiln:cool", "releases": "all", "compute": ["x"], "evidence": ["e"]}]},
            "'compute' must be a list of compute capabilities, such as '9' and '9.0', not ['x']",
        ),
        ({"import-failure": [{**FAILURE, "exception": "Oops"}]}, "must be an exception of Python's, not 'Oops'"),
    ],
)
def test_a_mistake_in_the_data_is_told(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(**tables)
    assert message in caught.value.message


def test_a_target_without_data_knows_nothing(tmp_path: Path) -> None:
    assert load(None, KILN.timeline) == load(tmp_path, KILN.timeline) == Knowledge()
    (tmp_path / "advisories.toml").write_text("= 3")
    with pytest.raises(ConfigError, match=r"advisories\.toml:1: not valid TOML"):
        load(tmp_path, KILN.timeline)


def valued(*values: Constant, certain: bool = True) -> Argument:
    return Argument(ALL, "slow", certain, tuple((ALL, value) for value in values))


@pytest.mark.parametrize(
    ("condition", "argument", "holds"),
    [
        (Condition("slow", equals=(False,)), valued(False), True),
        (Condition("slow", equals=(False,)), valued(True), False),
        (Condition("slow", equals=(False,)), valued(0), False),
        (Condition("slow", equals=(False,)), valued(True, False), True),
        (Condition("slow", equals=(False,)), valued(Unknown.UNKNOWN), False),
        (Condition("slow", equals=(False,)), None, False),
        (Condition("slow", equals=(None,)), valued(None), True),
        (Condition("slow", differs=(False,)), valued(True), True),
        (Condition("slow", differs=(False,)), valued(Unknown.UNKNOWN), False),
        (Condition("slow", omitted=True), None, True),
        (Condition("slow", omitted=True), valued(True), False),
        (Condition("slow", omitted=True), valued(True, certain=False), False),
        (Condition("slow", passed=True), valued(Unknown.UNKNOWN), True),
        (Condition("slow", passed=True), None, False),
        (Condition("slow", unless=(False,)), valued(False), False),
        (Condition("slow", unless=(False,)), valued(True, False), True),
        (Condition("slow", unless=(False,)), valued(Unknown.UNKNOWN), True),
        (Condition("slow", unless=(False,)), None, True),
    ],
)
def test_a_condition_holds_only_where_it_is_known_to(
    condition: Condition, argument: Argument | None, holds: bool
) -> None:
    entry = Advisory("x", (call("kiln:cool").callee,), ALL, "m", "h", advisory.RULE.severity, ("e",), (condition,))
    use = call("kiln:cool", None, keywords=(argument,) if argument else ())
    found = list(advisory.RULE.check(use, Context(KILN, ALL, Knowledge((entry,)))))
    assert [verdict.releases for verdict in found] == ([ALL] if holds else [])


def test_what_is_passed_by_position_is_found_by_its_parameter() -> None:
    entry = Advisory(
        "x",
        (call("kiln:cool").callee,),
        ALL,
        "m",
        "h",
        advisory.RULE.severity,
        ("e",),
        (Condition("slow", by_position=True),),
    )
    context = Context(KILN, ALL, Knowledge((entry,)))
    assert len(list(advisory.RULE.check(call("kiln:cool", None, None), context))) == 1
    assert list(advisory.RULE.check(call("kiln:cool", None, keywords=("slow",)), context)) == []
    assert list(advisory.RULE.check(call("kiln:cool", passed(certain=False), None), context)) == []


# -- FlashInfer's own ------------------------------------------------------------------------------------------------


def test_every_entry_speaks_of_what_its_releases_have() -> None:
    known = load(TARGET.data, FLASHINFER.timeline)
    assert known.advisories and known.import_failures
    for entry in known.advisories:
        asked = {c.parameter for c in entry.conditions if c.parameter} | (
            names_in(entry.where) if entry.where else frozenset()
        )
        for symbol in entry.symbols:
            assert entry.releases and entry.releases <= FLASHINFER.present(symbol), entry.id
            for epoch in FLASHINFER.of(symbol):
                if epoch.releases.isdisjoint(entry.releases):
                    continue
                assert epoch.symbol.signature is not None
                assert asked <= {p.name for p in epoch.symbol.signature.parameters}, entry.id
    for each in (*known.advisories, *known.import_failures):
        assert each.ground and all(link.startswith("https://github.com/") for link in each.evidence), each.id
    for failure in known.import_failures:
        present = FLASHINFER.has_module(failure.module) if failure.module != TARGET.top else FLASHINFER.timeline.all
        assert failure.releases and failure.releases <= present


def scanned(tmp_path: Path, source: str, against: str = "<=0.7.4") -> list[Finding]:
    (tmp_path / "app.py").write_text(source)
    result = scan(ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=(against,)))
    return [finding for finding in result.findings if finding.code in ("DW401", "DW501")]


def names(tmp_path: Path, source: str, *only: str) -> dict[str, str]:
    found = {f.name: said(FLASHINFER.timeline, f.releases) for f in scanned(tmp_path, source)}
    return {name: releases for name, releases in found.items() if not only or name in only}


WORKSPACE = """\
import torch.distributed as dist
from torch.distributed.group import WORLD
from flashinfer.comm import create_allreduce_fusion_workspace
from flashinfer.comm.mnnvl import TorchDistBackend


def make(group, backend, comm, n):
    return create_allreduce_fusion_workspace({})
"""
MET = "workspace-meets-on-world"
ALONE = "workspace-has-no-sub-group"
UNASKED = "backend-chosen-unasked"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('backend="trtllm", comm_backend=comm', {MET: "0.6.10.post1 to 0.6.14", ALONE: "0.6.10"}),
        ("backend=backend, comm_backend=comm", {MET: "0.6.10.post1 to 0.6.14", ALONE: "0.6.10"}),
        # 0.6.10 does not take `group`: the call fails there.
        ('backend="trtllm", comm_backend=comm, group=None', {MET: "0.6.10.post1 to 0.6.14"}),
        ('backend="trtllm", comm_backend=TorchDistBackend(group=dist.group.WORLD)', {}),
        ('backend="trtllm", comm_backend=TorchDistBackend(WORLD)', {}),
        # Without a group, or with None, it is one over WORLD.
        ('backend="trtllm", comm_backend=TorchDistBackend()', {}),
        ('backend="trtllm", comm_backend=TorchDistBackend(None)', {}),
        ('backend="trtllm", comm_backend=TorchDistBackend(group=None)', {}),
        ('backend="trtllm", comm_backend=None', {}),
        (
            'backend="trtllm", comm_backend=TorchDistBackend(group=None if n else group)',
            {MET: "0.6.10.post1 to 0.6.14", ALONE: "0.6.10"},
        ),
        (
            'backend="trtllm", comm_backend=TorchDistBackend(**backend)',
            {MET: "0.6.10.post1 to 0.6.14", ALONE: "0.6.10"},
        ),
        ('backend="trtllm", comm_backend=TorchDistBackend(group)', {MET: "0.6.10.post1 to 0.6.14", ALONE: "0.6.10"}),
        (
            'backend="trtllm", comm_backend=TorchDistBackend(group or dist.group.WORLD)',
            {MET: "0.6.10.post1 to 0.6.14", ALONE: "0.6.10"},
        ),
        ('backend="trtllm", group=None', {}),
        ('backend="trtllm"', {}),
        ('backend="trtllm", comm_backend=comm, group=group', {}),
        ('backend="trtllm", group=group', {}),
        ('backend="mnnvl", comm_backend=comm', {}),
        # In these releases "auto" always takes mnnvl, and so does what is left out; no trtllm workspace is made.
        ("comm_backend=comm", {UNASKED: "0.6.0 to 0.6.15.post1"}),
        ('backend="auto", comm_backend=comm', {UNASKED: "0.6.0 to 0.6.15.post1"}),
        ('backend="mnnvl-cutedsl", comm_backend=comm', {}),
        ("world_size=n, group=group", {UNASKED: "0.6.10.post1 to 0.6.15.post1"}),
        ('"auto", group=group', {UNASKED: "0.6.10.post1 to 0.6.15.post1"}),
        ("**backend", {}),
    ],
)
def test_workspaces(tmp_path: Path, arguments: str, expected: dict[str, str]) -> None:
    assert names(tmp_path, WORKSPACE.format(arguments), MET, ALONE, UNASKED) == expected


ONESHOT = """\
import flashinfer.comm as comm


def run(**rest):
    return comm.trtllm_allreduce_fusion(use_oneshot={}, **rest)
"""


def test_oneshot(tmp_path: Path) -> None:
    assert names(tmp_path, ONESHOT.format("None")) == {"oneshot-by-token-count": "0.2.9 to 0.4.1"}
    assert names(tmp_path, ONESHOT.format("True")) == {}


IMPORT = """\
try:
    import flashinfer.comm as comm
except {}:
    comm = None
"""


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("ImportError", "0.2.7.post1 to 0.7.1"),
        ("(ImportError, AttributeError)", "0.2.7.post1 to 0.7.1"),
        ("(ImportError, AssertionError, RuntimeError)", "0.2.7.post1 to 0.6.13, 0.6.16 to 0.6.16.post3"),
        ("(ImportError, AssertionError, AttributeError, RuntimeError)", "0.6.16 to 0.6.16.post3"),
        ("(ImportError, AssertionError, AttributeError, TypeError)", "0.4.0 to 0.7.1"),
        ("(ImportError, AssertionError, AttributeError, TypeError, RuntimeError)", None),
        ("Exception", None),
    ],
)
def test_imports(tmp_path: Path, guard: str, expected: str | None) -> None:
    found = scanned(tmp_path, IMPORT.format(guard))
    assert [said(FLASHINFER.timeline, f.releases) for f in found] == ([expected] if expected else [])
    assert all(f.code == "DW501" for f in found)


@pytest.mark.parametrize(
    ("against", "python", "severity"),
    [
        # Whether libcudart is loaded is the machine's affair.
        ("0.6.13", "", "note"),
        # With these Pythons the import fails on every machine.
        ("0.6.16", "", "warning"),
        ("0.6.16", ">=3.10", "warning"),
        ("0.6.16", ">=3.11.4", "warning"),
        ("0.6.16", ">=3.12", "note"),
        ("0.6.17", ">=3.10", "note"),
        ("all", ">=3.10", "warning"),
    ],
)
def test_a_guard_is_a_warning_where_it_fails_on_every_machine(
    tmp_path: Path, against: str, python: str, severity: str
) -> None:
    if python:
        (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'engine'\nrequires-python = '{python}'\n")
    (finding,) = scanned(tmp_path, IMPORT.format("ImportError"), against)
    assert (finding.code, finding.severity.value) == ("DW501", severity)


def test_guards_of_one_kind_are_told_once_of_a_code_base(tmp_path: Path) -> None:
    """At the product's first place, with the others beside it."""
    for name in ("benchmarks/a.py", "pkg/b.py", "pkg/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(IMPORT.format("ImportError"))
    (finding,) = scanned(tmp_path, "", "0.6.13")
    line = finding.location.line
    assert finding.location.path == "pkg/b.py"
    assert finding.hint.endswith(f"; the same at pkg/c.py:{line}, benchmarks/a.py:{line}")


LOOK = """\
import importlib.util


def has_comm():
    {}
"""
FLAG = """\
try:
    import flashinfer
    HAS = True
except {}:
    HAS = False

if HAS:
    {}
"""
INNER = "0.2.7.post1 to 0.6.13, 0.6.16 to 0.6.16.post3"
SKEW = "0.4.0 to 0.7.1"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # To look for what is in a package, Python imports the package.
        (LOOK.format('return importlib.util.find_spec("flashinfer.comm") is not None'), [(5, SKEW)]),
        (
            LOOK.format('return importlib.util.find_spec("flashinfer.comm.mnnvl") is not None'),
            [(5, "0.2.7.post1 to 0.7.1")],
        ),
        (LOOK.format('return importlib.util.find_spec("flashinfer") is not None'), []),
        (
            LOOK.format("""try:
        return importlib.util.find_spec("flashinfer.comm") is not None
    except Exception:
        return False"""),
            [],
        ),
        # A guard round the package does not stand round the module.
        (FLAG.format("ImportError", "import flashinfer.comm as comm"), [(2, SKEW), (8, INNER)]),
        (FLAG.format("Exception", "from flashinfer.comm import Mapping"), [(8, INNER)]),
        (FLAG.format("Exception", "try:\n        import flashinfer.comm\n    except Exception:\n        pass"), []),
        (FLAG.format("Exception", "comm = None"), []),
        ("import flashinfer.comm as comm\n", []),
    ],
)
def test_looks_whether_it_is_there(tmp_path: Path, source: str, expected: list[tuple[int, str]]) -> None:
    found = scanned(tmp_path, source)
    assert [(f.location.line, said(FLASHINFER.timeline, f.releases)) for f in found] == expected


# -- what needs no advisory, because a rule sees it --------------------------------------------------------------------

UNIFIED = """\
import flashinfer.comm as comm


def run(x, workspace, output):
    return comm.allreduce_fusion(x, workspace, 0, True, {})
"""
OLDER = """\
import flashinfer.comm as comm


def run(a):
    return comm.trtllm_allreduce_fusion(a, 2, 0, a, a, a, True, {}, {})
"""
REST = "a, a, a, a, a, a, a, a, a, a"


def told(tmp_path: Path, source: str, *codes: str) -> list[tuple[str, str, str | None]]:
    """Code, releases and parameter of the findings with these codes."""
    (tmp_path / "app.py").write_text(source)
    result = scan(ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("<=0.7.4",), select=codes))
    return [(f.code, said(FLASHINFER.timeline, f.releases), f.parameter) for f in result.findings]


def test_a_position_past_the_stable_ones(tmp_path: Path) -> None:
    assert [t[:2] for t in told(tmp_path, UNIFIED.format("output"), "DW104")] == [("DW104", "0.6.0 to 0.6.7.post3")]
    assert told(tmp_path, UNIFIED.format("output=output"), "DW104") == []
    older = OLDER.format("True, True, True, a", f"{REST}")
    assert [t[:2] for t in told(tmp_path, older, "DW104")] == [("DW104", "0.2.7.post1 to 0.2.8")]
    by_name = OLDER.format("trigger_completion_at_end=True", "fp32_acc=True, use_oneshot=True, pattern_code=a")
    assert told(tmp_path, by_name, "DW104") == []


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("1", [("DW303", "0.2.7.post1 to 0.2.13", "layout_code")]),
        # The first one only got another name.
        ("0", []),
        ("None", []),
        ("comm.QuantizationSFLayout.LINEAR", []),
    ],
)
def test_a_layout_as_a_number(tmp_path: Path, layout: str, expected: list[object]) -> None:
    source = OLDER.format("True, True, True, a", f"{REST[3:]}, layout_code={layout}")
    assert told(tmp_path, source, "DW303") == expected


# -- the code that made it known -------------------------------------------------------------------------------------


@pytest.mark.network
@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("0.20.0", [("workspace-meets-on-world", "0.6.10.post1 to 0.6.14"), ("workspace-has-no-sub-group", "0.6.10")]),
        # It passes `group`, which 0.6.10 does not take: the call fails there.
        ("0.26.0", []),
    ],
)
def test_vllm_before_and_after_its_pull_request_45917(release: str, expected: list[tuple[str, str]]) -> None:
    path = fetch_project(f"pypi:vllm=={release}").path
    result = scan(ScanRequest((path,), (Watched(FLASHINFER, TARGET.data),), against=("all",), select=("DW401",)))
    found = [
        (f.name, said(FLASHINFER.timeline, f.releases))
        for f in result.findings
        if f.name in (MET, ALONE)
        and f.location.path.endswith("vllm/distributed/device_communicators/flashinfer_all_reduce.py")
    ]
    assert sorted(found) == sorted(expected)


# -- what a call gives -----------------------------------------------------------------------------------------------

TUPLE = """\
import inspect

import flashinfer.comm as comm

HAS = "create_metadata" in inspect.signature(comm.trtllm_create_ipc_workspace_for_all_reduce_fusion).parameters


def make(n, flag, **rest):
    keywords = {{}}
    if HAS:
        keywords["create_metadata"] = True
    {} comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(0, n, 128, 64{})
    return result
"""
PLAIN, WITH = "workspace-without-asked-metadata", "workspace-with-metadata"
ALONE_WITH, SYMMETRIC = "workspace-with-metadata-alone", "workspace-in-symmetric-memory"
FIVE, SIX = "0.5.0 to 0.5.3", "0.6.0 to 0.7.4"


@pytest.mark.parametrize(
    ("target", "arguments", "expected"),
    [
        ("handles, result =", "", {}),
        ("handles, result, more =", "", {PLAIN: "0.5.0 to 0.7.4"}),
        ("handles, result, more =", ", create_metadata=False", {PLAIN: "0.5.0 to 0.7.4"}),
        ("handles, result, more =", ", **keywords", {}),
        ("handles, result =", ", **keywords", {WITH: FIVE, ALONE_WITH: SIX}),
        ("[handles, result] =", ", create_metadata=True", {WITH: FIVE, ALONE_WITH: SIX}),
        ("a, b, result =", ", create_metadata=True, use_symm_dev_mem=True", {SYMMETRIC: SIX}),
        ("a, b, c, result =", ", create_metadata=True, use_symm_dev_mem=True", {}),
        # What takes any number, what is kept whole, and what is not known.
        ("handles, *result =", "", {}),
        ("result =", ", create_metadata=True", {}),
        ("handles, result =", ", create_metadata=flag", {}),
        ("handles, result =", ", **rest", {}),
    ],
)
def test_how_many_values_a_workspace_is(tmp_path: Path, target: str, arguments: str, expected: dict[str, str]) -> None:
    assert names(tmp_path, TUPLE.format(target, arguments)) == expected


def test_a_number_of_values_is_checked_in_the_data() -> None:
    assert read(advisory=[{**ENTRY, "returns": 2}]).advisories[0].returns == 2
    for wrong in (1, True, "2"):
        with pytest.raises(ConfigError, match="'returns' must be a number of values"):
            read(advisory=[{**ENTRY, "returns": wrong}])
