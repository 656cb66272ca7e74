"""How a target's sources say which GPUs its functions are for.

Enters: ``gpus.toml`` in a target's folder. Leaves: frozen `GpuWords`; nothing where there is none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftwatch.errors import ConfigError
from driftwatch.snapshot.model.gpu_facts import GpuWords, KernelList, Said

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "gpus.toml"


def load_gpu_words(folder: Path | None) -> GpuWords:
    """What the file in a target's folder says."""
    path = folder / FILE if folder is not None else None
    if path is None or not path.is_file():
        return GpuWords()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return GpuWords(
            tuple(data.get("decorators", ())),
            tuple(data.get("keywords", ())),
            tuple(data.get("parameters", ())),
            tuple(_kernels(row) for row in data.get("kernels", ())),
        )
    except (OSError, ValueError, KeyError, TypeError, re.error) as error:
        raise ConfigError(f"{path} cannot be read: {type(error).__name__}: {error}") from None


def _kernels(row: Mapping[str, Any]) -> KernelList:
    for key in ("begins", "pattern", "ends"):
        re.compile(row.get(key, ""))
    return KernelList(
        Said(row["says"]),
        tuple(row["symbols"]),
        tuple(row["files"]),
        row["pattern"],
        row.get("begins", ""),
        row.get("ends", ""),
    )
