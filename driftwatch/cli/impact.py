"""``driftwatch impact``: which call sites does a state of a library break that is not released?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import asked_target, config_option, configuration, output_option, target_option, targets_of
from driftwatch.cli.output import say
from driftwatch.cli.progress import activity

FORMATS = ("text", "json", "markdown", "html")


@click.command(
    "impact",
    epilog="""\b
Examples:
  driftwatch impact ../flashinfer pypi:vllm pypi:sglang      the working tree, with all that is changed in it
  driftwatch impact git:../flashinfer@main..topic code.txt   a branch, against where it left the main line
  driftwatch impact flashinfer.whl ../engine --base 0.7.4    an archive, against a release
  driftwatch impact 0.7.4 ../engine                          a release, against the one before it
  driftwatch impact urllib3==2.0.2 pypi:requests==2.28.0     a library that nobody has set up
  driftwatch impact . pypi:vllm --format markdown=body.md    for a pull request of the library

\b
LIBRARY is a folder, git:FOLDER@REF or git:FOLDER@BASE..HEAD, a wheel or an sdist, or a release. Which
library that is, --target says, or `NAME==VERSION` and `NAME @ PLACE`; it need not be set up.
CODE is a folder, pypi:NAME[==VERSION], git:FOLDER@REF, or a .txt or .toml file with a list of these.
The base is --base: a release, @REF, or a LIBRARY; else where the branch left the main line, else the
newest release that is recorded. Nothing of the library or of a code base is run, and nothing is
recorded.

\b
Exit status: 0 nothing that worked breaks, 1 something does, 2 usage, configuration or input error, or
a code base that could not be looked at.""",
)
@click.argument("library", metavar="LIBRARY")
@click.argument("code", nargs=-1, required=True, metavar="CODE...")
@click.option("--base", metavar="BASE", help="What LIBRARY is held against: a release, @REF, or another LIBRARY.")
@click.option("--all", "everything", is_flag=True, help="List the changes that touch nobody as well.")
@formats_option(FORMATS)
@output_option
@target_option
@config_option
def impact_command(
    library: str,
    code: tuple[str, ...],
    base: str | None,
    everything: bool,
    wanted: tuple[Wanted, ...],
    output: Path | None,
    target_name: str | None,
    config_file: Path | None,
) -> int:
    """Find what an unreleased state of a library breaks, and where.

    Every change of its API is told with the call sites that it breaks, that fall silent, that meet a deprecation or
    another default; then the changes that touch nobody.
    """
    from driftwatch.report.html.impact import render as render_html
    from driftwatch.report.impact import headline, render
    from driftwatch.report.impact_forms import render_json, render_markdown
    from driftwatch.report.styled import Look, look
    from driftwatch.scan.code_bases import expanded, is_local
    from driftwatch.scan.libraries import name_in
    from driftwatch.snapshot.sources.cache import cache_root
    from driftwatch.watching.impact import ImpactRequest, impact

    settled = settle(wanted, output, FORMATS[0])
    config = configuration(config_file)
    with activity("looking") as shown:
        members = expanded(code)
        targets = targets_of(config)
        if target_name is not None or name_in(library) is not None:
            here = tuple(Path(text) for text in members if is_local(text) and Path(text).exists())
            target, texts = asked_target(config, target_name, (library, *filter(None, (base,))), shown, here)
            targets, library = (target,), texts[0]
        found = impact(
            ImpactRequest(
                targets,
                library,
                members,
                base,
                config if config_file is not None else None,
                cache_root(),
                shown.title,
            )
        )
    rendered = []
    for each in settled:
        if each.name == "text":
            text = render(found, Look() if each.file is not None else look(sys.stdout), everything=everything)
        else:
            text = {"json": render_json, "markdown": render_markdown, "html": render_html}[each.name](found)
        rendered.append(text)
    deliver(settled, rendered)
    if all(each.file is not None for each in settled):
        say(headline(found))
    for unread in found.unread:
        say(f"error: {unread.name}: {unread.reason}")
    if found.breaks:
        return 1
    return 2 if found.unread else 0
