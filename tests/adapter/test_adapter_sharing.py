"""A group's workspace serves all shapes that it is large enough for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapter.together import together

pytest.importorskip("torch")
PROGRAM = Path(__file__).with_name("sharing.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "releases"), [("trtllm", ("0.6.0", "0.6.12", "0.7.4")), ("mnnvl", ("0.6.12", "0.7.4"))]
)
def test_one_workspace_for_many_shapes(
    backend: str, releases: tuple[str, ...], adapter_file: Path, tmp_path: Path
) -> None:
    said = together(PROGRAM, tmp_path, adapter_file, backend=backend, releases=releases)
    assert said[0] == said[1]
    for release, seen in said[0].items():
        assert seen[:6] == [1, 1, 1, 1, 1, 1]
        shared = seen[6]
        assert (shared["made_for"], shared["shared_by"]) == ([64, 512, "bfloat16"], 6)
        assert shared["bytes"] == (64 * 512 * 2 * 6 if backend == "mnnvl" else 4 * 2 * 64 * 512 * 2)
        assert seen[7:10] == [2, 3, 1]  # one that is not shared, one for float32, and both gone again
        assert seen[10:12] == [2, [6, 1]]  # the old one stays for those with a captured graph
        able = release == "0.7.4"
        assert seen[12] == [able, able]
        assert seen[13:] == [*([3] if able else []), 0, 1, 0]


@pytest.mark.slow
def test_the_older_pair_shares_among_layers(adapter_file: Path, tmp_path: Path) -> None:
    said = together(PROGRAM.with_name("sharing_pair.py"), tmp_path, adapter_file)
    assert said == [[1, 1, 2, 2, 0]] * 2
