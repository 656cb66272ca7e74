"""Snapshots of small libraries, and what tests ask of them."""

from __future__ import annotations

from pathlib import Path

from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.symbols import ParameterKind, Ref, Signature, Snapshot, Symbol
from driftwatch.snapshot.sources.tree import FileTree, FolderTree


def symbol(snapshot: Snapshot, text: str) -> Symbol:
    return snapshot.symbols[Ref.parse(text)]


def parameters(snapshot: Snapshot, text: str) -> list[str]:
    """A signature as Python writes it, name and default only."""
    signature = symbol(snapshot, text).signature
    assert signature is not None
    stars = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
    return [
        stars.get(p.kind, "") + p.name + (f"={p.default}" if p.default is not None else "")
        for p in signature.parameters
    ]


def collected(tmp_path: Path, **files: str) -> Snapshot:
    """The snapshot of a one-package library `pkg` made of these files."""
    for name, text in files.items():
        path = tmp_path / "pkg" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return collect(FolderTree(tmp_path), "pkg", "1")


def signature(text: str) -> Signature:
    """The signature of a function that is written ``def function(pot, *, heat=900): ...``, without the name."""
    found = symbol(collect(FileTree({"one.py": f"def function{text}: ...".encode()}, ""), "one", "1"), "one:function")
    assert found.signature is not None
    return found.signature
