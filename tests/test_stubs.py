"""The stub packages: each behaves, under Python itself, as the snapshot it was written from says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.snapshot.model.symbols import (
    Binding,
    Parameter,
    ParameterKind,
    Ref,
    Signature,
    Snapshot,
    Symbol,
    SymbolKind,
)
from driftwatch.snapshot.store import store
from tests.differential.programs import Call, Program, Runner
from tests.differential.shipped import shipped, shipped_stubs
from tests.stubs import write_stub

EITHER = ParameterKind.POSITIONAL_OR_KEYWORD
KEYWORD = ParameterKind.KEYWORD_ONLY


def snapshot(*symbols: Symbol, release: str = "1.2") -> Snapshot:
    return Snapshot(release, {symbol.ref: symbol for symbol in symbols})


def module(name: str, *imports: str) -> Symbol:
    return Symbol(Ref(name, ""), SymbolKind.MODULE, imports=imports)


def function(ref: str, *parameters: Parameter, **facts: object) -> Symbol:
    returns = facts.pop("returns", None)
    extra = facts.pop("extra", ())
    signature = Signature(parameters, returns_ref=returns, extra_keywords=extra)  # type: ignore[arg-type]
    return Symbol(Ref.parse(ref), SymbolKind.FUNCTION, signature, **facts)  # type: ignore[arg-type]


def cls(ref: str, *bases: str, init: tuple[Parameter, ...] = (), **facts: object) -> Symbol:
    return Symbol(Ref.parse(ref), SymbolKind.CLASS, Signature(init), bases=bases, **facts)  # type: ignore[arg-type]


def run(folder: Path, program: str) -> list[object]:
    """What each line of a program evaluates to, or the type and text of what it raises."""
    script = """
import json, sys
import lib.comm as comm
out = []
for line in sys.stdin.read().splitlines():
    try:
        out.append(eval(line))
    except Exception as error:
        out.append(f"{type(error).__name__}: {error}")
print(json.dumps(out, default=repr))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, input=program, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_signatures_are_those_recorded(tmp_path: Path) -> None:
    parameters = (
        Parameter("a", ParameterKind.POSITIONAL_ONLY),
        Parameter("b", EITHER),
        Parameter("c", EITHER, "1.5"),
        Parameter("rest", ParameterKind.VAR_POSITIONAL),
        Parameter("d", KEYWORD),
        Parameter("e", KEYWORD, "torch.float32"),
        Parameter("more", ParameterKind.VAR_KEYWORD),
    )
    write_stub(snapshot(module("lib.comm"), function("lib.comm:f", *parameters)), tmp_path, "lib-dist")
    text, version, metadata, name = run(
        tmp_path,
        "str(__import__('inspect').signature(comm.f))\n__import__('lib').__version__\n"
        "__import__('importlib.metadata').metadata.version('lib-dist')\ncomm.f.__module__ + ':' + comm.f.__qualname__",
    )
    assert text == "(a, /, b, c=1.5, *rest, d, e=<torch.float32>, **more)"
    assert (version, metadata, name) == ("1.2", "1.2", "lib.comm:f")


def test_calls_fail_as_python_fails(tmp_path: Path) -> None:
    f = function("lib.comm:f", Parameter("a", EITHER), Parameter("b", EITHER, "None"))
    write_stub(snapshot(module("lib.comm"), f), tmp_path)
    assert run(tmp_path, "comm.f(1, group=2)\ncomm.f()\ncomm.f(1, 2, 3)\ncomm.g") == [
        "TypeError: f() got an unexpected keyword argument 'group'",
        "TypeError: f() missing 1 required positional argument: 'a'",
        "TypeError: f() takes from 1 to 2 positional arguments but 3 were given",
        "AttributeError: module 'lib.comm' has no attribute 'g'",
    ]


def test_one_keyword_from_before_a_renaming(tmp_path: Path) -> None:
    f = function("lib.comm:f", Parameter("new", EITHER), extra=("old",))
    write_stub(snapshot(module("lib.comm"), f), tmp_path)
    assert run(tmp_path, "bool(comm.f(old=1))\ncomm.f(older=1)\nstr(__import__('inspect').signature(comm.f))") == [
        True,
        "TypeError: f() got an unexpected keyword argument 'older'",
        "(new)",
    ]


def test_a_function_hides_the_submodule_of_its_name(tmp_path: Path) -> None:
    inner = function("lib.comm.gather:gather", Parameter("x", EITHER))
    outer = function("lib.comm:gather", Parameter("x", EITHER), definition=inner.ref)
    write_stub(snapshot(module("lib.comm", "lib.comm.gather"), module("lib.comm.gather"), outer, inner), tmp_path)
    assert run(
        tmp_path,
        "comm.gather.__module__\n__import__('importlib').import_module('lib.comm.gather').gather is comm.gather",
    ) == ["lib.comm.gather", True]


def test_classes(tmp_path: Path) -> None:
    write_stub(
        snapshot(
            module("lib.comm"),
            cls("lib.comm:Base", "abc.ABC", abstract=True),
            function("lib.comm:Base.size", abstract=True, binding=Binding.INSTANCE),
            cls("lib.comm:One", "lib.comm:Base", init=(Parameter("n", EITHER),)),
            function("lib.comm:One.size", Parameter("a", EITHER), binding=Binding.INSTANCE),
            function("lib.comm:One.make", binding=Binding.STATIC, returns=Ref("lib.comm", "One")),
            Symbol(Ref("lib.comm", "One.rank"), SymbolKind.PROPERTY),
            cls("lib.comm:Two", "lib.comm:Base"),
            function("lib.comm:Two.size", Parameter("b", EITHER), binding=Binding.INSTANCE),
            function("lib.comm:Two.extra", binding=Binding.CLASS),
            function("lib.comm:create", returns=Ref("lib.comm", "Base")),
        ),
        tmp_path,
    )
    assert run(
        tmp_path,
        "comm.Base()\ncomm.One()\nbool(comm.One(3).rank)\ncomm.One(3).size(b=1)\ncomm.One.make().size()\n"
        "bool(comm.create().size(a=1))\nbool(comm.create().size(b=1))\ncomm.create().size(c=1)\n"
        "isinstance(comm.create(), comm.Base)\nbool(comm.create().extra())\ncomm.create().none",
    ) == [
        "TypeError: Can't instantiate abstract class Base with abstract method size"
        if sys.version_info < (3, 12)
        else "TypeError: Can't instantiate abstract class Base without an implementation for abstract method 'size'",
        "TypeError: One.__init__() missing 1 required positional argument: 'n'",
        True,
        "TypeError: One.size() got an unexpected keyword argument 'b'",
        "TypeError: One.size() missing 1 required positional argument: 'a'",
        True,
        True,
        "TypeError: One.size() got an unexpected keyword argument 'c'",
        True,
        True,
        "AttributeError: 'Base' object has no attribute 'none'",
    ]


def test_enums_and_constants(tmp_path: Path) -> None:
    write_stub(
        snapshot(
            module("lib.comm"),
            cls("lib.comm:Kind", "enum.IntEnum"),
            Symbol(Ref("lib.comm", "Kind.A"), SymbolKind.ATTRIBUTE, value="0"),
            Symbol(Ref("lib.comm", "Kind.B"), SymbolKind.ATTRIBUTE, value="next(counter)"),
            Symbol(Ref("lib.comm", "LIMIT"), SymbolKind.ATTRIBUTE, value="[1, 'x']"),
            Symbol(Ref("lib.comm", "FAR"), SymbolKind.ATTRIBUTE, value="(1e999,)"),
        ),
        tmp_path,
    )
    assert run(tmp_path, "[m.name for m in comm.Kind]\ncomm.Kind.A + 0\ncomm.LIMIT\nrepr(comm.FAR)\ncomm.Kind.C") == [
        ["A", "B"],
        0,
        [1, "x"],
        "<(1e999,)>",
        "AttributeError: C"
        if sys.version_info < (3, 12)
        else "AttributeError: type object 'Kind' has no attribute 'C'",
    ]


def test_a_class_with_a_foreign_base_has_any_member(tmp_path: Path) -> None:
    write_stub(snapshot(module("lib.comm"), cls("lib.comm:Module", "torch.nn.Module")), tmp_path)
    assert run(tmp_path, "bool(comm.Module().whatever(1, x=2))") == [True]


@pytest.mark.parametrize(
    "text", ["__import__('os').abort()", "1) or exit(", "'\\n", "x\nraise SystemExit(3)", "(" * 500]
)
def test_text_of_a_snapshot_never_becomes_code(tmp_path: Path, text: str) -> None:
    f = function("lib.comm:f", Parameter("a", EITHER, text))
    constant = Symbol(Ref("lib.comm", "C"), SymbolKind.ATTRIBUTE, value=text)
    write_stub(snapshot(module("lib.comm"), f, constant), tmp_path)
    assert run(tmp_path, "bool(comm.f())\ncomm.f(b=1)") == [
        True,
        "TypeError: f() got an unexpected keyword argument 'b'",
    ]


@pytest.mark.parametrize("name", ["a=exit()", "class", "a b", ""])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        write_stub(snapshot(module("lib.comm"), function("lib.comm:f", Parameter(name, EITHER))), tmp_path)


def test_a_stub_of_every_shipped_release_can_be_imported(tmp_path: Path) -> None:
    history = shipped()
    program = Program(
        {"main.py": "import flashinfer.comm as comm\ndef run():\n    return comm\n"}, "main", (Call("run"),)
    )
    with Runner(shipped_stubs(tmp_path), "flashinfer") as runner:
        outcomes = runner.run(program)
    assert tuple(outcomes) == history.timeline.versions
    assert all(outcome.imported.ended is None for outcome in outcomes.values())
    assert all(run.ended is None for outcome in outcomes.values() for runs in outcome.calls for run in runs)


@pytest.mark.parametrize("release", ["0.2.7.post1", "0.6.0", "0.7.4"])
def test_a_shipped_stub_has_the_recorded_signatures(tmp_path: Path, release: str) -> None:
    recorded = store.snapshot_of(shipped(), release)
    write_stub(recorded, tmp_path)
    functions = {
        str(ref): [[p.name, p.kind.value, p.default is not None] for p in symbol.signature.parameters]
        for ref, symbol in recorded.symbols.items()
        if symbol.kind is SymbolKind.FUNCTION and "." not in ref.qualname and symbol.signature
    }
    script = """
import importlib, inspect, json, sys
kinds = {k: k.description.replace(" ", "-").replace("variadic-", "var-") for k in inspect._ParameterKind}
out = {}
for ref in json.load(sys.stdin):
    module, name = ref.split(":")
    signature = inspect.signature(getattr(importlib.import_module(module), name))
    out[ref] = [[p.name, kinds[p.kind], p.default is not p.empty] for p in signature.parameters.values()]
print(json.dumps(out))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        input=json.dumps(list(functions)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == functions
    assert len(functions) > 20
