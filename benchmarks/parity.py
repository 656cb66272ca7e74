"""How much of a library's API is recorded, and whether it is right: snapshots against `inspect.signature`.

    python benchmarks/parity.py FOLDER [--only NAME]...

Releases of widely used libraries are installed with their dependencies into FOLDER, each in a place of its own, and
imported in a process of their own. Every public function, class and method that Python shows a signature of is looked
up in the snapshot of the same release. It is *told* where the snapshot has parameters for it, and *equal* where these
have the same names, kinds and defaults. What is in FOLDER already is used again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from driftwatch.errors import DriftwatchError
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.standard_bases import standard_members
from driftwatch.snapshot.model.symbols import Ref, Signature, Snapshot, Symbol, SymbolKind
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.origin import choose_for_snapshot, open_artifact
from tests.live_parity.comparison import lineage_of

INSPECTOR = Path(__file__).parents[1] / "tests" / "live_parity" / "inspector.py"
_KINDS = {
    "positional-only": "positional-only",
    "positional or keyword": "positional-or-keyword",
    "variadic positional": "var-positional",
    "keyword-only": "keyword-only",
    "variadic keyword": "var-keyword",
}
_ASIDE = frozenset({"tests", "test", "testing", "conftest", "__main__", "_vendor", "vendored", "setup"})


@dataclass(frozen=True)
class Library:
    """A library, two of its releases, and what its modules import beside its dependencies."""

    distribution: str
    module: str
    versions: tuple[str, ...]
    extras: tuple[str, ...] = ()


LIBRARIES = (
    Library("requests", "requests", ("2.25.1", "2.32.3")),
    Library("urllib3", "urllib3", ("1.26.18", "2.2.3")),
    Library("httpx", "httpx", ("0.23.3", "0.28.1"), ("click", "rich", "pygments", "h2")),
    Library("aiohttp", "aiohttp", ("3.8.6", "3.11.11")),
    Library("flask", "flask", ("2.0.3", "3.1.0"), ("asgiref",)),
    Library("werkzeug", "werkzeug", ("2.0.3", "3.1.3")),
    Library("jinja2", "jinja2", ("2.11.3", "3.1.5"), ("markupsafe<2.1",)),
    Library("starlette", "starlette", ("0.20.4", "0.45.2"), ("httpx", "itsdangerous", "jinja2", "python-multipart")),
    Library("fastapi", "fastapi", ("0.88.0", "0.115.6"), ("httpx", "python-multipart", "jinja2", "itsdangerous")),
    Library("django", "django", ("3.2.25", "5.1.4")),
    Library("tornado", "tornado", ("6.1", "6.4.2")),
    Library("click", "click", ("7.1.2", "8.1.8")),
    Library("typer", "typer", ("0.4.2", "0.15.1")),
    Library("rich", "rich", ("10.16.2", "13.9.4")),
    Library("attrs", "attr", ("20.3.0", "24.3.0")),
    Library("pydantic", "pydantic", ("1.10.19", "2.10.4")),
    Library("marshmallow", "marshmallow", ("3.13.0", "3.23.2")),
    Library("jsonschema", "jsonschema", ("3.2.0", "4.23.0"), ("setuptools<80",)),
    Library("sqlalchemy", "sqlalchemy", ("1.4.54", "2.0.36")),
    Library("redis", "redis", ("4.6.0", "5.2.1")),
    Library("packaging", "packaging", ("20.9", "24.2")),
    Library("pytest", "_pytest", ("6.2.5", "8.3.4")),
    Library("hypothesis", "hypothesis", ("6.75.9", "6.123.2")),
    Library("networkx", "networkx", ("2.8.8", "3.4.2"), ("numpy", "scipy", "pandas", "matplotlib")),
    Library("pandas", "pandas", ("1.5.3", "2.2.3"), ("numpy<2",)),
    Library("scipy", "scipy", ("1.11.4", "1.14.1"), ("numpy<2",)),
    Library("scikit-learn", "sklearn", ("1.3.2", "1.6.0"), ("numpy<2",)),
    Library("huggingface-hub", "huggingface_hub", ("0.16.4", "0.27.0")),
    Library("tqdm", "tqdm", ("4.50.2", "4.67.1")),
)


@dataclass
class Parity:
    """What one release's snapshot tells: counts, and each difference with its kind."""

    live: int = 0
    told: int = 0
    equal: int = 0
    untold: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[str, str]] = field(default_factory=list)
    unsaid: list[tuple[str, str]] = field(default_factory=list)
    unimportable: int = 0
    modules: int = 0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="NAME", help="Only these libraries.")
@click.option("--show", type=int, default=0, help="So many differences of each release in full.")
def main(folder: Path, only: tuple[str, ...], show: int) -> None:
    """Compare, and print one line for each release."""
    folder.mkdir(parents=True, exist_ok=True)
    print(
        "| release | modules | signatures | told | equal of told | not told, by kind |\n|---|---:|---:|---:|---:|---|"
    )
    total = Parity()
    for library in LIBRARIES:
        if only and library.distribution not in only:
            continue
        for version in library.versions:
            try:
                parity = _release(folder, library, version)
            except (DriftwatchError, subprocess.CalledProcessError) as error:
                print(f"| {library.distribution} {version} | could not be compared: {error} |")
                continue
            print(_row(f"{library.distribution} {version}", parity), flush=True)
            for what, text in (*parity.differences[:show], *parity.unsaid[:show]):
                print(f"    {what}: {text}")
            _write(folder / f"{library.distribution}-{version}.differences.txt", parity)
            total.live += parity.live
            total.told += parity.told
            total.equal += parity.equal
            total.modules += parity.modules
            total.untold.update(parity.untold)
            total.differences += parity.differences
    print(_row("all", total))
    kinds = Counter(what for what, _ in total.differences)
    print("\n".join(f"{count:6} {what}" for what, count in kinds.most_common()))


def _row(name: str, parity: Parity) -> str:
    told = f"{100 * parity.told / max(parity.live, 1):.1f} %"
    equal = f"{100 * parity.equal / max(parity.told, 1):.2f} %"
    untold = ", ".join(f"{what} {count}" for what, count in parity.untold.most_common())
    return f"| {name} | {parity.modules} | {parity.live} | {told} | {equal} | {untold} |"


def _write(place: Path, parity: Parity) -> None:
    lines = [f"{what}: {text}" for what, text in (*parity.differences, *parity.unsaid)]
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


# -- what Python shows -------------------------------------------------------------------------------------------------


def _release(folder: Path, library: Library, version: str) -> Parity:
    with PackageIndex() as index:
        project = index.project(library.distribution)
        opened = open_artifact(choose_for_snapshot(project.artifacts(version)), library.module, index)
        snapshot = collect(opened.tree, library.module, version)
    live = folder / f"{library.distribution}-{version}.live.json"
    if not live.exists():
        place = _installed(folder, library, version)
        command = [str(_python(folder)), str(INSPECTOR), str(place), str(live)]
        asked = json.dumps(_asked(snapshot, library.module))
        subprocess.run(command, input=asked, text=True, check=True, stdout=subprocess.DEVNULL)
    return compare(snapshot, json.loads(live.read_text(encoding="utf-8")))


def _python(folder: Path) -> Path:
    home = folder / "venv"
    if not home.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    return home / "bin" / "python"


def _installed(folder: Path, library: Library, version: str) -> Path:
    place = folder / f"{library.distribution}-{version}"
    finished = place / "finished"
    if not finished.exists():
        pip = [str(_python(folder)), "-m", "pip", "install", "--quiet", "--target", str(place)]
        subprocess.run([*pip, f"{library.distribution}=={version}", *library.extras], check=True)
        finished.touch()
    return place


def _asked(snapshot: Snapshot, root: str) -> dict[str, list[str]]:
    """The public modules of a snapshot, with the names to ask for in each."""
    names: dict[str, list[str]] = {root: []}
    names.update((ref.module, []) for ref in snapshot.symbols if not ref.qualname and _public_module(ref.module, root))
    for ref in snapshot.symbols:
        if ref.module in names and ref.qualname and "." not in ref.qualname:
            names[ref.module].append(ref.qualname)
    return names


def _public_module(module: str, root: str) -> bool:
    below = module.removeprefix(root).split(".")
    return not any(part.startswith("_") or part in _ASIDE for part in below)


# -- the comparison ----------------------------------------------------------------------------------------------------


def compare(snapshot: Snapshot, live: Mapping[str, Any]) -> Parity:
    """Hold every public signature that Python shows against the snapshot."""
    parity = Parity()
    top = next(iter(live)).partition(".")[0]
    seen: set[str] = set()
    for module, found in live.items():
        if "error" in found:
            parity.unimportable += 1
            continue
        parity.modules += 1
        for name, value in found["names"].items():
            if name.startswith("_") or value["kind"] not in ("function", "class"):
                continue
            if (value["module"] or "").partition(".")[0] != top:
                continue
            ref = Ref(module, name)
            symbol = snapshot.symbols.get(ref)
            _callable(snapshot, ref, symbol, value, parity)
            if value["kind"] == "class" and f"{value['module']}:{value['qualname']}" not in seen:
                seen.add(f"{value['module']}:{value['qualname']}")
                _members(snapshot, ref, symbol, value, parity)
    return parity


def _callable(snapshot: Snapshot, ref: Ref, symbol: Symbol | None, value: Mapping[str, Any], parity: Parity) -> None:
    shown = value.get("parameters")
    if "enum" in value:
        return  # what Python shows is what makes a new enumeration
    if shown is None:
        return
    parity.live += 1
    if symbol is None:
        _missing(f"{ref}", snapshot.symbols.get(Ref(ref.module, "")), parity)
    elif symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.CLASS):
        _untold(parity, f"{symbol.kind.value} for a {value['kind']}", f"{ref} {_text(_theirs(shown))}")
    else:
        _signature(ref, symbol, shown, value["kind"], parity, value.get("takes"))


def _members(snapshot: Snapshot, ref: Ref, symbol: Symbol | None, value: Mapping[str, Any], parity: Parity) -> None:
    lineage, closed = lineage_of(snapshot, symbol) if symbol is not None else ([], False)
    closed = closed and symbol is not None and symbol.kind is SymbolKind.CLASS
    foreign = [b for r in lineage if (s := snapshot.symbols.get(r)) is not None for b in s.bases if ":" not in b]
    for name, member in value["members"].items():
        if name.startswith("_") or member["kind"] != "function" or member["parameters"] is None:
            continue
        if name not in value["own"]:
            continue  # the class that defines it has it
        parity.live += 1
        found = next((s for r in lineage if (s := snapshot.symbols.get(r.member(name))) is not None), None)
        if found is None:
            if not closed or any(name in (standard_members(base) or ()) for base in foreign):
                _untold(parity, "member of an open class", f"{ref}.{name}")
            else:
                _differs(parity, "missing member", f"{ref}.{name} {_text(_theirs(member['parameters']))}")
        elif symbol is not None and "?" in symbol.bases and found.ref != ref.member(name):
            _untold(parity, "member of an open class", f"{ref}.{name}")
        elif found.kind is SymbolKind.FUNCTION:
            if found.signature is not None and found.binding is not None and found.binding.value != member["binding"]:
                parity.told += 1
                _differs(parity, "binding", f"{found.ref} {found.binding} live {member['binding']}")
            else:
                _signature(found.ref, found, member["parameters"], "method", parity, member.get("takes"))
        else:
            _untold(parity, f"{found.kind.value} for a method", f"{ref}.{name}")


def _missing(ref: str, module: Symbol | None, parity: Parity) -> None:
    if module is None or module.open:
        _untold(parity, "name of an open module", ref)
    else:
        _differs(parity, "missing name", ref)


def _signature(ref: Ref, symbol: Symbol, shown: list[Any], kind: str, parity: Parity, takes: list[Any] | None) -> None:
    theirs = _theirs(shown)
    if symbol.hides and takes is not None:
        theirs = _theirs(takes)  # what is shown has been set by code; what is taken is what the function inside takes
    if symbol.variants:
        possible = [_ours(each) for each in symbol.variants]
        if theirs in possible:
            _untold(parity, "one of several", f"{ref} {_text(theirs)}")
        else:
            _differs(parity, "none of several", f"{ref}: {' | '.join(map(_text, possible))} live {_text(theirs)}")
        return
    signature = symbol.signature if symbol.hides else symbol.shown
    if signature is None:
        _untold(parity, f"{kind} with an unknown signature", f"{ref} {_text(theirs)}")
        return
    parity.told += 1
    if theirs in (_ours(signature), symbol.signature and _ours(symbol.signature)):
        parity.equal += 1
    else:
        _differs(parity, f"{kind} signature", f"{ref}: {_text(_ours(signature))} live {_text(theirs)}")


def _differs(parity: Parity, what: str, text: str) -> None:
    if what.startswith(("missing", "none")):
        parity.told += 1  # that it is not there is told, and wrong
    parity.differences.append((what, text))


def _untold(parity: Parity, what: str, text: str) -> None:
    parity.untold[what] += 1
    parity.unsaid.append((f"not told: {what}", text))


def _ours(signature: Signature) -> list[tuple[str, str, bool]]:
    return [(p.name, p.kind.value, p.default is not None) for p in signature.parameters]


def _theirs(shown: Iterable[list[Any]]) -> list[tuple[str, str, bool]]:
    return [(name, _KINDS[kind], default) for name, kind, default in shown]


def _text(parameters: Iterable[tuple[str, str, bool]]) -> str:
    marks = {"var-positional": "*", "var-keyword": "**", "keyword-only": "kw:", "positional-only": "pos:"}
    return "(" + ", ".join(f"{marks.get(kind, '')}{name}{'=' if has else ''}" for name, kind, has in parameters) + ")"


if __name__ == "__main__":
    main()
