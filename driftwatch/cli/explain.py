"""``driftwatch explain``: what a rule is for, what it finds, and what to do about it."""

from __future__ import annotations

import sys

import click

from driftwatch.cli.completion import codes
from driftwatch.cli.options import format_option
from driftwatch.cli.output import emit
from driftwatch.errors import UsageError


@click.command(
    "explain",
    epilog="""\b
Examples:
  driftwatch explain            all rules, one line each
  driftwatch explain DW101      one rule, with examples""",
)
@click.argument("code", required=False, shell_complete=codes)
@format_option("text", "markdown")
def explain_command(code: str | None, output_format: str) -> None:
    """Explain a rule: why it is there, what it finds, what to do.

    CODE is a rule's code or name. Without it, all rules are listed.
    """
    from driftwatch.report import rule_markdown
    from driftwatch.report.rule_page import render, render_index
    from driftwatch.report.styled import look
    from driftwatch.rules import RULES, rule, suggestion

    as_markdown = output_format == "markdown"
    if code is None:
        emit(rule_markdown.index(RULES) if as_markdown else render_index(RULES, look(sys.stdout)))
        return
    found = rule(code)
    if found is None:
        raise UsageError(f"there is no rule {code!r}", suggestion(code))
    emit(rule_markdown.render(found) if as_markdown else render(found, look(sys.stdout)))
