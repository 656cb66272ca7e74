"""``driftwatch cache``: what is kept of what was fetched and made, and making it smaller."""

from __future__ import annotations

import click

from driftwatch.cli.output import emit, say


@click.command(
    "cache",
    epilog="""\b
Examples:
  driftwatch cache                       where it is, and how large, by what is in it
  driftwatch cache --limit 500           drop what was not used for the longest, until 500 MB are left
  driftwatch cache --clear               drop everything

\b
It is in the user's cache folder, or in DRIFTWATCH_CACHE_DIR. Everything in it is fetched or made
again where it is needed. Past 2 GB, what was not used for the longest is dropped by itself.

\b
Exit status: 0, or 2 for a usage error.""",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="MB", help="Make it no larger than this.")
@click.option("--clear", "everything", is_flag=True, help="Drop everything.")
def cache_command(limit: int | None, everything: bool) -> int:
    """Show or shrink what is kept between runs."""
    from driftwatch.snapshot.sources.cache import cache_root
    from driftwatch.snapshot.sources.cache_size import clear, kinds, shrink

    root = cache_root()
    if everything or limit is not None:
        gone = clear(root) if everything else shrink(root, (limit or 0) * 1_000_000)
        say(f"{_megabytes(gone)} dropped")
        return 0
    found = kinds(root)
    lines = [f"{kind.name:<14} {kind.files:>8} files {_megabytes(kind.bytes):>12}" for kind in found]
    whole = f"{'all':<14} {sum(k.files for k in found):>8} files {_megabytes(sum(k.bytes for k in found)):>12}"
    emit("\n".join([str(root), *lines, whole]) + "\n")
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
