"""A second library, of which driftwatch knows nothing: a dozen real releases from the package index."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.snapshot.commands.update import update
from driftwatch.snapshot.commands.verify import verify
from driftwatch.snapshot.model.symbols import ParameterKind, Ref
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target

pytestmark = pytest.mark.network


def test_einops(tmp_path: Path) -> None:
    """Its change log: `einsum` came with 0.5, `pack` and `unpack` with 0.6, `repeat` with 0.3.

    Wheels and sdists, and a class whose definition moves between modules.
    """
    target = Target("einops", "einops", tmp_path, since="0.1.0")
    with PackageIndex() as index:
        assert "0.8.1" in update(target, index=index).added
        assert verify(target, sample=3, index=index).right
        assert index.traffic.bytes < 2_000_000
    history = store.load(tmp_path)
    timeline = history.timeline
    assert len(timeline) >= 13
    for name, since in (("einsum", "0.5"), ("pack", "0.6"), ("unpack", "0.6"), ("repeat", "0.3"), ("rearrange", "0.1")):
        assert history.present(Ref("einops", name)) == timeline.matching(f">={since}"), name
    pack = history.of(Ref("einops", "pack"))[0].symbol
    assert pack.signature is not None
    assert [parameter.name for parameter in pack.signature.parameters] == ["tensors", "pattern"]
    assert history.present(Ref("einops", "EinopsError")) == timeline.all


def test_humanize(tmp_path: Path) -> None:
    """`naturaldelta` took a `when` from 3.1 on, and lost it in 4.0; its sources moved into ``src/`` before that."""
    target = Target("humanize", "humanize", tmp_path, since="2.5")
    with PackageIndex() as index:
        assert not update(target, index=index).failed
    history = store.load(tmp_path)
    when = history.timeline.set_of([])
    for epoch in history.of(Ref("humanize", "naturaldelta")):
        assert epoch.symbol.signature is not None
        parameters = {parameter.name: parameter for parameter in epoch.symbol.signature.parameters}
        assert parameters["minimum_unit"].kind is ParameterKind.POSITIONAL_OR_KEYWORD
        if "when" in parameters:
            when |= epoch.releases
    assert when == history.timeline.matching(">=3.1,<4")
    assert len(history.timeline) > 30
