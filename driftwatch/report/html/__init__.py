"""The report as one self-contained HTML page, and the same for several code bases.

Plain string templates forget to escape, and a template engine is a dependency that every install would carry for one
format; here elements are built by functions that escape all they are given (`markup.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from driftwatch.report.html.page import document
from driftwatch.report.matrix import Unread
from driftwatch.report.options import RenderOptions
from driftwatch.scan.report_model import Report


def render(report: Report, options: RenderOptions) -> str:
    """The page of one code base."""
    return document([report], unresolved=options.unresolved)


def render_many(reports: Sequence[Report], options: RenderOptions, unread: Sequence[Unread] = ()) -> str:
    """One page for several code bases; those that could not be looked at are named."""
    return document(reports, unresolved=options.unresolved, unread=unread)
