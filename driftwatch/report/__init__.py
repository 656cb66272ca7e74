"""The formats of a scan's report: each is a module with ``render(report, options) -> str``.

A new format is a file here and a line in `FORMATS`; it is imported only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from driftwatch.report.options import RenderOptions
    from driftwatch.scan.report_model import Report

FORMATS: Mapping[str, str] = {
    "text": "driftwatch.report.text",
    "json": "driftwatch.report.json_v1",
    "github": "driftwatch.report.github",
    "sarif": "driftwatch.report.sarif",
    "markdown": "driftwatch.report.markdown",
    "junit": "driftwatch.report.junit",
    "html": "driftwatch.report.html",
    "matrix": "driftwatch.report.matrix",
}
"""Every format's name on the command line, and its module."""


class Format(Protocol):
    """What a format's module has."""

    def render(self, report: Report, options: RenderOptions) -> str:
        """The whole report as one string that ends in a newline, or is empty."""
        ...


def render(name: str, report: Report, options: RenderOptions) -> str:
    """The report in one of `FORMATS`."""
    return cast("Format", import_module(FORMATS[name])).render(report, options)
