"""One file repaired against the example library."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from driftwatch.project.config import Config
from driftwatch.scan.fix import Fixed, fix
from driftwatch.scan.pipeline import ScanRequest, Watched
from driftwatch.snapshot.model.history import History
from tests.kiln import history


def fixed(
    folder: Path,
    source: str | dict[str, str],
    *,
    against: str = "all",
    unsafe: bool = False,
    select: tuple[str, ...] = (),
    library: History | None = None,
    data: Path | None = None,
) -> Fixed:
    """What is offered for some files, by default for one."""
    files = {"app.py": source} if isinstance(source, str) else source
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(dedent(text).encode())
    known = library or history()
    spec = f"{known.distribution}{against}" if against[0] in "<>=" else against
    request = ScanRequest(
        paths=(folder,), targets=(Watched(known, data),), config=Config(), against=(spec,), base=folder
    )
    return fix(request, select=select, unsafe=unsafe)


def text_of(result: Fixed, path: str = "app.py") -> str:
    """The file as it would be."""
    found = [file.texts[1] for file in result.offer.files if file.path == path]
    assert found, [refusal.reason for refusal in result.offer.refusals]
    return found[0]


def reasons(result: Fixed) -> list[str]:
    return [refusal.reason for refusal in result.offer.refusals]
