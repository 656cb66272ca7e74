"""What a scan found, as every format takes it."""

from __future__ import annotations

from driftwatch.report.model import Report, TargetReport
from driftwatch.scan import ScanResult


def report_of(result: ScanResult, name: str, seconds: float | None = None) -> Report:
    """The result as the formats take it."""
    return Report(
        targets=tuple(
            TargetReport(
                distribution=target.distribution,
                module=target.module,
                timeline=target.timeline,
                checked=target.checked,
                origin=target.origin,
                compatible=target.compatible,
                degraded=target.degraded,
                uses=target.uses,
                sites=target.sites,
                history=target.history,
                notices=target.notices,
                apart=target.apart,
                before=target.before,
                remark=target.remark,
                stand_in=target.stand_in,
            )
            for target in result.targets
        ),
        findings=result.findings,
        unresolved=result.unresolved,
        diagnostics=result.diagnostics,
        idle=result.idle,
        suppressed=len(result.suppressed),
        files=result.files,
        analysed=result.analysed,
        seconds=seconds,
        title=name,
        hidden=result.suppressed,
        source=result.sources.lines,
    )
