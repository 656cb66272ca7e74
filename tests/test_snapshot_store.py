"""The store: the same bytes for the same facts, only changed lines for a new release, clear words for damage."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.errors import SnapshotError
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.codec import encode
from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Ref, Signature, Snapshot, Symbol, SymbolKind
from driftwatch.snapshot.sources.tree import FolderTree
from driftwatch.snapshot.store import store
from driftwatch.snapshot.store.store import ReleaseRecord
from tests.collecting import collected
from tests.made_library import write as write_library

VERSIONS = ("0.9", "1.0", "1.0.post1", "1.1", "2.0")
BESIDE = ("0.9+gabc", "2.0+local", "1.1rc1")

CHANGES = {
    "0.9": {"kiln/old.py": "def slab_roll(thickness): ...\n"},
    "1.0": {},
    "1.0.post1": {},
    "1.1": {"kiln/tools.py": "def sieve(mesh=80, *, wet=False): ...\nclass Bat: ...\n"},
    "2.0": {"kiln/shelf.py": "def open_shelf(wood='oak'): ...\nclass Shelf: ...\n"},
}


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Snapshot]:
    made = {}
    for version in VERSIONS:
        folder = write_library(tmp_path_factory.mktemp("library"), CHANGES[version])
        made[version] = collect(FolderTree(folder), "kiln", version)
    return made


def made(snapshots: dict[str, Snapshot], *versions: str) -> list[tuple[Snapshot, ReleaseRecord]]:
    return [
        (snapshots[v], ReleaseRecord(v, f"kiln-{v}.tar.gz", "00" * 32, ">=3.10")) for v in versions or tuple(snapshots)
    ]


@pytest.fixture
def folder(tmp_path: Path, snapshots: dict[str, Snapshot]) -> Path:
    target = tmp_path / "kiln"
    store.write(target, "kiln", "kiln", made(snapshots))
    return target


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestRoundTrip:
    def test_every_snapshot_comes_back_as_it_was(self, folder: Path, snapshots: dict[str, Snapshot]) -> None:
        history = store.load(folder)
        assert history.timeline.versions == VERSIONS
        assert (history.distribution, history.module) == ("kiln", "kiln")
        for version, snapshot in snapshots.items():
            assert store.snapshot_of(history, version) == snapshot

    def test_the_history_is_that_of_the_snapshots(self, folder: Path, snapshots: dict[str, Snapshot]) -> None:
        loaded, merged = store.load(folder), merge("kiln", "kiln", snapshots.values())
        assert dict(loaded.epochs) == dict(merged.epochs)
        assert len(loaded.epochs) == len(merged.epochs)
        for ref in merged.epochs:
            assert ref in loaded.epochs
            assert loaded.members(ref) == merged.members(ref)
            assert set(loaded.subclasses(ref)) == {r for r in merged.subclasses(ref) if not _is_alias(merged, r)}
        assert Ref("kiln", "never") not in loaded.epochs
        assert loaded.of(Ref("kiln", "never")) == ()

    def test_records_say_where_a_release_came_from(self, folder: Path, snapshots: dict[str, Snapshot]) -> None:
        records = store.records(folder)
        assert [r.version for r in records] == list(VERSIONS)
        assert records[0].artifact == "kiln-0.9.tar.gz"
        assert records[0].requires_python == ">=3.10"
        assert [r.digest for r in records] == [store.digest(snapshots[v]) for v in VERSIONS]
        assert records[1].digest == records[2].digest

    def test_what_is_beside_it_changes_nothing_of_the_releases(
        self, folder: Path, snapshots: dict[str, Snapshot]
    ) -> None:
        """A state of an old version, one of a new one, and a pre-release: each where its version says, as it was."""
        plain = store.load(folder)
        whose = zip(BESIDE, (VERSIONS[-1], VERSIONS[0], VERSIONS[1]), strict=True)
        new = {ref: Symbol(ref, SymbolKind.FUNCTION, Signature()) for ref in (Ref("kiln", "a"), Ref("kiln", "b"))}
        new[Ref("kiln", "b")] = Symbol(Ref("kiln", "b"), SymbolKind.ATTRIBUTE, value="1")
        states = [Snapshot(name, {**snapshots[version].symbols, **new}) for name, version in whose]
        loaded = store.load(folder, states)
        assert tuple(v for v in loaded.timeline.versions if v not in BESIDE) == plain.timeline.versions
        assert loaded.timeline.versions_of(loaded.timeline.released) == plain.timeline.versions
        everything = {version: store.snapshot_of(loaded, version) for version in loaded.timeline.versions}
        assert everything == store.snapshots_of(loaded)
        for version in plain.timeline.versions:
            assert everything[version] == store.snapshot_of(plain, version)
        for state in states:
            assert everything[state.release] == state
        places = [loaded.timeline.versions.index(name) for name in BESIDE]
        assert loaded.timeline.versions[places[0] - 1] == VERSIONS[0]
        assert places[1] == len(loaded.timeline) - 1
        assert loaded.digest != plain.digest

    def test_reading_everything_finds_nothing_wrong(self, folder: Path) -> None:
        store.check(folder)


def _is_alias(history: object, ref: Ref) -> bool:
    from driftwatch.snapshot.model.history import History

    assert isinstance(history, History)
    return all(epoch.symbol.definition is not None for epoch in history.of(ref))


class TestCanonical:
    def test_the_order_in_which_releases_are_given_does_not_show(
        self, tmp_path: Path, folder: Path, snapshots: dict[str, Snapshot]
    ) -> None:
        store.write(tmp_path / "other", "kiln", "kiln", reversed(made(snapshots)))
        assert contents(tmp_path / "other") == contents(folder)

    @pytest.mark.parametrize("order", [VERSIONS, VERSIONS[::-1], ("1.1", "0.9", "2.0", "1.0.post1", "1.0")])
    def test_adding_one_by_one_gives_what_writing_at_once_gives(
        self, tmp_path: Path, folder: Path, snapshots: dict[str, Snapshot], order: tuple[str, ...]
    ) -> None:
        target = tmp_path / "slowly"
        store.write(target, "kiln", "kiln", made(snapshots, order[0]))
        for version in order[1:]:
            store.add(target, made(snapshots, version))
        assert contents(target) == contents(folder)

    def test_adding_what_is_there_changes_nothing(self, folder: Path, snapshots: dict[str, Snapshot]) -> None:
        before = contents(folder)
        store.add(folder, made(snapshots, "1.0", "2.0"))
        assert contents(folder) == before

    def test_a_release_can_be_replaced(self, tmp_path: Path, folder: Path, snapshots: dict[str, Snapshot]) -> None:
        changed = {**snapshots, "1.1": replace(snapshots["2.0"], release="1.1")}
        store.add(folder, made(changed, "1.1"))
        store.write(tmp_path / "fresh", "kiln", "kiln", made(changed))
        assert contents(folder) == contents(tmp_path / "fresh")

    def test_a_new_release_touches_only_the_lines_it_changes(
        self, folder: Path, tmp_path: Path, snapshots: dict[str, Snapshot]
    ) -> None:
        target = tmp_path / "grown"
        store.write(target, "kiln", "kiln", made(snapshots, "0.9", "1.0", "1.0.post1"))
        before = (target / store.HISTORY).read_text().splitlines()
        store.add(target, made(snapshots, "1.1"))
        after = (target / store.HISTORY).read_text().splitlines()
        gone = {json.loads(line)["name"] for line in set(before) - set(after)}
        come = {json.loads(line)["name"] for line in set(after) - set(before)}
        assert come == gone == {"kiln.tools:sieve", "kiln.tools:Bat", "kiln.tools:Bat.diameter"}

    def test_a_name_that_goes_and_comes_again_has_two_spans(self, tmp_path: Path) -> None:
        symbol = Symbol(Ref("m", "f"), SymbolKind.FUNCTION, Signature())
        module = Symbol(Ref("m", ""), SymbolKind.MODULE)
        there, gone = [module, symbol], [module]
        found = [
            (Snapshot(v, {s.ref: s for s in symbols}), ReleaseRecord(v))
            for v, symbols in (("1", there), ("2", gone), ("3", there), ("4", there))
        ]
        store.write(tmp_path, "m", "m", found)
        text = (tmp_path / store.HISTORY).read_text()
        assert '{"name": "m:f", "kind": "function", "parameters": [], "since": "1", "until": "2"}\n' in text
        assert '{"name": "m:f", "kind": "function", "parameters": [], "since": "3"}\n' in text
        (epoch,) = store.load(tmp_path).of(Ref("m", "f"))
        assert epoch.releases == store.load(tmp_path).timeline.set_of(["1", "3", "4"])

    @settings(max_examples=40)
    @given(st.lists(st.lists(st.sampled_from("abcd"), unique=True), min_size=1, max_size=6), st.data())
    def test_any_history_survives(
        self, tmp_path_factory: pytest.TempPathFactory, lives: list[list[str]], data: st.DataObject
    ) -> None:
        module = Symbol(Ref("m", ""), SymbolKind.MODULE)
        found = []
        for number, names in enumerate(lives):
            symbols = {module.ref: module}
            for name in names:
                default = data.draw(st.sampled_from([None, "1"]))
                parameter = Parameter("p", ParameterKind.POSITIONAL_OR_KEYWORD, default)
                symbol = Symbol(Ref("m", name), SymbolKind.FUNCTION, Signature((parameter,)))
                symbols[symbol.ref] = symbol
            found.append((Snapshot(str(number), symbols), ReleaseRecord(str(number))))
        folder = tmp_path_factory.mktemp("any")
        store.write(folder, "m", "m", data.draw(st.permutations(found)))
        history = store.load(folder)
        for snapshot, record in found:
            assert store.snapshot_of(history, record.version) == snapshot


class TestDamage:
    @pytest.fixture
    def damage(self, folder: Path) -> Callable[..., str]:
        def spoil(name: str, line: int, change: Callable[[str], str], *, deep: bool = False) -> str:
            path = folder / name
            rows = path.read_text().splitlines(keepends=True)
            rows[line - 1] = change(rows[line - 1])
            path.write_text("".join(rows))
            with pytest.raises(SnapshotError) as caught:
                store.check(folder) if deep else store.load(folder)
            assert "\n" not in caught.value.message
            assert name in caught.value.message
            return caught.value.message

        return spoil

    def test_json_that_is_none(self, damage: Callable[..., str]) -> None:
        assert "line 7 is damaged" in damage(store.HISTORY, 7, lambda row: row[: len(row) // 2] + "\n")

    def test_two_objects_on_a_line(self, damage: Callable[..., str]) -> None:
        assert "line 7 is damaged" in damage(store.HISTORY, 7, lambda row: row.strip() + "," + row)

    def test_a_line_that_is_no_object(self, damage: Callable[..., str]) -> None:
        assert "line 3 is damaged" in damage(store.HISTORY, 3, lambda row: "[1]\n")

    def test_a_release_nobody_knows(self, damage: Callable[..., str]) -> None:
        message = damage(store.HISTORY, 9, lambda row: row.replace('"since": "', '"since": "77'))
        assert "line 9 is damaged: it names a release that is not recorded" in message

    def test_a_span_that_ends_before_it_begins(self, damage: Callable[..., str]) -> None:
        entry = '{"name": "kiln:x", "kind": "attribute", "since": "2.0", "until": "0.9"}\n'
        assert "it ends before it begins" in damage(store.HISTORY, 4, lambda row: entry)

    def test_a_line_without_a_name(self, damage: Callable[..., str]) -> None:
        assert "names no symbol" in damage(store.HISTORY, 4, lambda row: '{"kind": "class", "since": "0.9"}\n')

    def test_a_header_of_another_format(self, damage: Callable[..., str]) -> None:
        assert "line 1" in damage(store.HISTORY, 1, lambda row: row.replace('"format": 2', '"format": 1'))

    def test_a_file_cut_short(self, damage: Callable[..., str], folder: Path) -> None:
        last = len((folder / store.HISTORY).read_text().splitlines())
        assert f"line {last} is damaged" in damage(store.HISTORY, last, lambda row: row[:20])

    def test_facts_that_are_none(self, damage: Callable[..., str]) -> None:
        change: Callable[[str], str] = lambda row: row.replace('"kind": "', '"kind": "un')  # noqa: E731
        assert "line 2 is damaged" in damage(store.HISTORY, 2, change, deep=True)

    def test_a_pointer_to_nothing(self, damage: Callable[..., str]) -> None:
        entry = '{"name": "kiln:Clay", "is": "kiln.clay:Mud", "since": "0.9"}\n'
        assert "kiln.clay:Mud is not there" in damage(store.HISTORY, 3, lambda row: entry, deep=True)

    def test_a_record_with_strange_keys(self, damage: Callable[..., str]) -> None:
        assert "line 2 is damaged" in damage(store.RELEASES, 2, lambda row: row.replace("artifact", "artefact"))

    def test_a_record_of_no_version(self, damage: Callable[..., str]) -> None:
        assert "line 1 is damaged" in damage(store.RELEASES, 1, lambda row: row.replace("0.9", "nine"))

    def test_records_out_of_order(self, damage: Callable[..., str]) -> None:
        assert "in order" in damage(store.RELEASES, 5, lambda row: row.replace('"2.0"', '"0.1"'))

    def test_a_changed_fact_does_not_match_its_digest(self, folder: Path) -> None:
        path = folder / store.HISTORY
        path.write_text(path.read_text().replace('"mesh=80"', '"mesh=81"'))
        with pytest.raises(SnapshotError, match="does not match its digest"):
            store.check(folder)

    def test_bytes_that_are_no_text(self, folder: Path) -> None:
        (folder / store.HISTORY).write_bytes(b"\xff\xfe\n")
        with pytest.raises(SnapshotError, match="cannot be read"):
            store.load(folder)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(SnapshotError, match="does not exist"):
            store.load(tmp_path / "nowhere")


def test_a_write_that_fails_leaves_the_old_files(
    folder: Path, snapshots: dict[str, Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.add(folder, made({**snapshots, "3.0": replace(snapshots["1.0"], release="3.0")}, "3.0"))
    assert contents(folder) == before


class TestShipped:
    @pytest.fixture
    def every(self) -> Iterable[Path]:
        folders = sorted(p for p in store.shipped().iterdir() if p.is_dir())
        assert folders
        return folders

    def test_every_shipped_target_is_whole(self, every: Iterable[Path]) -> None:
        for folder in every:
            store.check(folder)

    def test_what_is_shipped_is_canonical(self, every: Iterable[Path], tmp_path: Path) -> None:
        for folder in every:
            history = store.load(folder)
            known = {r.version: r for r in store.records(folder)}
            again = [(store.snapshot_of(history, v), known[v]) for v in history.timeline.versions]
            store.write(tmp_path / folder.name, history.distribution, history.module, again)
            for name in (store.HISTORY, store.RELEASES):
                assert (tmp_path / folder.name / name).read_bytes() == (folder / name).read_bytes()


def test_equal_apis_have_equal_bytes(snapshots: dict[str, Snapshot]) -> None:
    assert encode(snapshots["1.0"]) == encode(snapshots["1.0.post1"])
    assert encode(snapshots["1.0"]) != encode(snapshots["1.1"])


def test_two_names_may_point_at_each_other_in_different_releases(tmp_path: Path) -> None:
    here, there = "def fire(): ...\n", "from .{} import fire\n"
    one = collected(tmp_path / "1", __init__="", a=here, b=there.format("a"))
    two = replace(collected(tmp_path / "2", __init__="", a=there.format("b"), b=here), release="2")
    records = [(each, ReleaseRecord(each.release, f"pkg-{each.release}.tar.gz", "00" * 32)) for each in (one, two)]
    store.write(tmp_path / "stored", "pkg", "pkg", records)
    history = store.load(tmp_path / "stored")
    assert [store.snapshot_of(history, each.release).symbols for each in (one, two)] == [one.symbols, two.symbols]
