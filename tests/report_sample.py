"""One report that has everything a format must show, hostile text included; the formats' tests share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from driftwatch.findings.finding import Finding, Severity
from driftwatch.findings.suppress import Idle, Suppressed
from driftwatch.flow.uses import Diagnostic, Location, Outcome, Step, Unresolved
from driftwatch.releases import EMPTY, Timeline
from driftwatch.scan.report_model import Report, TargetReport
from driftwatch.scan.sources import Sources

TIMELINE = Timeline(("0.5.0", "0.6.0", "0.6.1", "0.6.2", "0.7.0", "0.7.1"))
CHECKED = TIMELINE.matching(">=0.6.0")

FUSION = """\
import flashinfer.comm as comm


class Workspace:
    def create(self, group):
        kwargs = {"backend": "trtllm"}
        kwargs["group"] = group
        try:
            self.workspace = comm.create_workspace(**kwargs)
        except Exception as error:  # noqa: BLE001
            log.warning("fusion is off: %s", error)
            self.workspace = None

    def run(self, x):
\treturn comm.allreduce_fusion(x, workspace=self.workspace, trigger_completion_at_end=True)

    def again(self, x):
        return comm.allreduce_fusion(x, trigger_completion_at_end=True)
"""

FILES = {
    "pkg/fusion.py": FUSION,
    "pkg/moe.py": "try:\n    from flashinfer.comm import MoeAlltoAll\nexcept ImportError:\n    MoeAlltoAll = None\n",
    "<script>.py": 'X = "\x1b[31mred\x1b[0m [bold]markup[/bold]"; comm.gone("\u202eevil")\n',
}


def holding(files: Mapping[str, tuple[str, ...]]) -> Sources:
    """The sources of a project that has these files, by their paths in it, and no others."""
    folder = Path("/nowhere")
    return Sources(folder, {str(folder / path): lines for path, lines in files.items()})


def finding(**changes: object) -> Finding:
    """A finding of the sample, with some of its fields changed."""
    return replace(SILENT, **changes)  # type: ignore[arg-type]


SILENT = Finding(
    code="DW101",
    name="unknown-keyword",
    severity=Severity.ERROR,
    distribution="flashinfer-python",
    location=Location("pkg/fusion.py", 9, 30, 9, 61),
    symbol="flashinfer.comm.create_workspace",
    parameter="group",
    releases=TIMELINE.set_of(["0.6.0", "0.6.1"]),
    beyond=TIMELINE.set_of(["0.5.0"]),
    outcome=Outcome.SILENT,
    caught_at=("pkg/fusion.py", 10),
    message="`create_workspace` does not take `group` in 0.6.0 to 0.6.1",
    hint="needs flashinfer-python>=0.6.2; or pass it only where `inspect.signature` shows it",
    trace=(Step("pkg/fusion.py", 7, "`group` is put into the dict here"),),
    fingerprint="0" * 31 + "1",
    exception="TypeError",
)
RAISES = finding(
    location=Location("pkg/fusion.py", 15, 9, 15, 91),
    symbol="flashinfer.comm.allreduce_fusion",
    parameter="trigger_completion_at_end",
    releases=TIMELINE.set_of(["0.6.0", "0.7.1"]),
    beyond=EMPTY,
    outcome=Outcome.RAISES,
    caught_at=None,
    message="`allreduce_fusion` does not take `trigger_completion_at_end` in 0.6.0, 0.7.1",
    hint="works in 0.6.1 to 0.7.0; or pass it only where `inspect.signature` shows it",
    trace=(),
    fingerprint="0" * 31 + "2",
)
AGAIN = replace(RAISES, location=Location("pkg/fusion.py", 18, 16, 18, 74), fingerprint="0" * 31 + "3")
GUARDED = finding(
    code="DW201",
    name="missing-name",
    severity=Severity.NOTE,
    location=Location("pkg/moe.py", 2, 5, 2, 48),
    symbol="flashinfer.comm.MoeAlltoAll",
    parameter=None,
    releases=TIMELINE.set_of(["0.7.1"]),
    beyond=TIMELINE.set_of(["0.5.0"]),
    outcome=Outcome.GUARDED,
    caught_at=("pkg/moe.py", 3),
    message="`flashinfer.comm` has no `MoeAlltoAll` in 0.7.1",
    hint="",
    trace=(),
    fingerprint="0" * 31 + "4",
    exception="ImportError",
)
HOSTILE = finding(
    code="DW201",
    name="missing-name",
    severity=Severity.WARNING,
    location=Location("<script>.py", 1, 46, 1, 63),
    symbol="flashinfer.comm.gone",
    parameter=None,
    beyond=EMPTY,
    outcome=None,
    caught_at=None,
    message="`gone` is\x1b[2J gone: [red]100%[/red], at line\n::error::injected",
    hint="",
    trace=(),
    fingerprint="0" * 31 + "5",
    exception=None,
)

REPORT = Report(
    targets=(
        TargetReport(
            distribution="flashinfer-python",
            module="flashinfer.comm",
            timeline=TIMELINE,
            checked=CHECKED,
            origin="--against >=0.6.0",
            compatible=TIMELINE.set_of(["0.6.2", "0.7.0"]),
            degraded=TIMELINE.set_of(["0.7.0"]),
            uses=20,
        ),
    ),
    findings=(HOSTILE, SILENT, RAISES, AGAIN, GUARDED),
    unresolved=(Unresolved("pkg/fusion.py", 30, "what `**options` holds is not known"),),
    diagnostics=(Diagnostic("pkg/broken\n.py", 3, "not valid Python: invalid syntax", mentions=True),),
    idle=(Idle("pkg/moe.py", 4, "unused ignore of DW101"),),
    suppressed=(Suppressed(SILENT, "comment"),),
    files=1959,
    analysed=12,
    seconds=4.1,
    sources=holding({path: tuple(text.splitlines()) for path, text in FILES.items()}),
)
