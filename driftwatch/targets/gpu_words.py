"""How a target's sources say which GPUs its functions are for.

Enters: ``gpus.toml`` in a target's folder. Leaves: frozen `GpuWords`; nothing where there is none.
"""

from __future__ import annotations

import re
from pathlib import Path

from driftwatch.snapshot.model.gpu_facts import GpuWords, KernelList, Said
from driftwatch.system.tables import Table, read_if_there

FILE = "gpus.toml"


def load_gpu_words(folder: Path | None) -> GpuWords:
    """What the file in a target's folder says."""
    table = read_if_there(folder, FILE)
    if table is None:
        return GpuWords()
    table.only(("decorators", "keywords", "parameters", "kernels"))
    return GpuWords(
        table.strings("decorators"),
        table.strings("keywords"),
        table.strings("parameters"),
        tuple(_kernels(each) for each in table.tables("kernels")),
    )


def _kernels(table: Table) -> KernelList:
    table.only(("says", "symbols", "files", "pattern", "begins", "ends"))
    return KernelList(
        Said(table.one_of("says", [each.value for each in Said])),
        table.strings("symbols", some=True),
        table.strings("files", some=True),
        _pattern(table, "pattern") or table.string("pattern"),
        _pattern(table, "begins"),
        _pattern(table, "ends"),
    )


def _pattern(table: Table, key: str) -> str:
    found = table.read_as(key, re.compile, "a regular expression")
    return found.pattern if found is not None else ""
