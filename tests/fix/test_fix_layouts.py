"""One broken call in every layout that Python allows: it is fixed, and the file compiles, or it is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fix.fixing import fixed, reasons

CALL = 'kiln.fire(pot, minutes=30, glaze="blue")'
LAYOUTS = {
    "one line": f"def f(pot, x):\n    if x: {CALL}\n",
    "semicolons": f"def f(pot): a = 1; {CALL}; b = 2\n",
    "lambda": f"f = lambda pot: {CALL}\n",
    "default": f"pot = 1\ndef f(x={CALL}):\n    return x\n",
    "decorator": f"pot = 1\ndef d(x):\n    return lambda f: f\n@d({CALL})\ndef f():\n    pass\n",
    "comprehension": f"def f(pots):\n    return [{CALL} for pot in pots if pot]\n",
    "condition": f"def f(pot):\n    while not {CALL}:\n        pass\n",
    "walrus": f"def f(pot):\n    if (x := {CALL}) is not None:\n        return x\n",
    "f-string": "def f(pot):\n    return f\"{kiln.fire(pot, minutes=30, glaze='blue')!r:>3}\"\n",
    "with": f"def f(pot):\n    with open({CALL}) as g, open({CALL}) as h:\n        return g, h\n",
    "match": f"def f(pot):\n    match {CALL}:\n        case None if {CALL}:\n            return {CALL}\n",
    "class body": f"pot = 1\nclass C:\n    x = {CALL}\n    y: int = {CALL}\n",
    "argument of itself": (
        'def f(pot):\n    return kiln.fire(kiln.fire(pot, minutes=1, glaze="a"), minutes=2, glaze="b")\n'
    ),
    "its value calls": "def f(pot):\n    return kiln.fire(pot, minutes=30, glaze=print())\n",
    "yield": f"def f(pot):\n    x = yield {CALL}\n    yield from {CALL}\n",
    "await": f"async def f(pot):\n    await {CALL}\n    return [x async for x in {CALL}]\n",
    "raise": f"def f(pot):\n    raise ValueError({CALL}) from {CALL}\n",
    "assert": f"def f(pot):\n    assert {CALL}, {CALL}\n",
    "subscript": f"def f(pot, d):\n    d[{CALL}] = {CALL}\n    d[0] += {CALL}\n",
    "elif": f"def f(pot, x):\n    if x:\n        pass\n    elif {CALL}:\n        pass\n    else: {CALL}\n",
    "try": f"def f(pot):\n    try: {CALL}\n    except ValueError: {CALL}\n    else: {CALL}\n    finally: {CALL}\n",
    "backslash": (
        'def f(pot):\n    x = \\\n        kiln.fire(pot, \\\n        minutes=30, glaze="blue")\n    return x\n'
    ),
    "comments": (
        "def f(pot):\n    return kiln.fire(  # a\n        pot,  # b\n"
        '        # c\n        minutes=30,\n        glaze="blue"  # d\n        # e\n    )  # f\n'
    ),
    "only argument": 'def f(pot, more):\n    return kiln.fire(*more, glaze="blue")\n',
    "before a star": 'def f(pot, more):\n    return kiln.fire(glaze="blue", *more)\n',
    "text of several lines": 'def f(pot):\n    return kiln.fire(pot, minutes=30, glaze="""a\n  b\n""")\n',
    "tabs": 'def f(pot):\n\tif pot:\n\t\treturn kiln.fire(pot, minutes=30, glaze="blue")\n',
    "form feed": f"\x0c\ndef f(pot):\n    return {CALL}\n\x0c\n",
    "no line end": f"def f(pot):\n    return {CALL}",
    "line ends of Windows": f"def f(pot):\r\n    return {CALL}\r\n",
    "line ends of old": f"def f(pot):\r    return {CALL}\r",
    "byte order mark": f"\ufeffdef f(pot):\n    return {CALL}\n",
    "other letters": 'def f(tøpf, größe):\n    "ß"; return kiln.fire(tøpf, minutes=30, glaze="bläulich") or "é"\n',
    "brackets all round": 'def f(pot):\n    return (((kiln)).fire)((pot), minutes=(30), glaze=("blue"))\n',
    "dict": 'def f(pot):\n    d = {"minutes": 30, "glaze": "blue"}\n    return kiln.fire(pot, **d)\n',
    "dict of one": 'def f(pot):\n    return kiln.fire(pot, 30, **{"glaze": "blue"})\n',
    "dict by steps": 'def f(pot):\n    d = dict(minutes=30); d["glaze"] = "blue"; return kiln.fire(pot, **d)\n',
    "update": 'def f(pot):\n    d = {"minutes": 30}\n    d.update(glaze="blue")\n    return kiln.fire(pot, **d)\n',
    "merged": 'def f(pot):\n    d = {"minutes": 30} | {"glaze": "blue"}\n    return kiln.fire(pot, **d)\n',
    "global": (
        f"def f(pot):\n    global x\n    x = {CALL}\n    def g():\n"
        f"        nonlocal pot\n        return {CALL}\n    return g\n"
    ),
    "names that are taken": f"inspect = functools = _takes = kwargs = 1\ndef f(pot, kwargs):\n    return {CALL}\n",
    "deep": "def f(pot):\n"
    + "".join(f"{'    ' * (i + 1)}if pot:\n" for i in range(60))
    + "    " * 61
    + f"return {CALL}\n",
    "long": f"def f(pot):\n    return [{', '.join([CALL] * 40)}]\n",
    "many": "".join(f"def f{i}(pot):\n    return {CALL}\n" for i in range(60)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_it_is_fixed_or_refused(tmp_path: Path, name: str) -> None:
    text = LAYOUTS[name]
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    end = next((e for e in ("\r\n", "\r") if e in text), "\n")
    source = f"{mark}import kiln{end}{end}{end}{text}"
    (tmp_path / "app.py").write_bytes(source.encode())
    first = fixed(tmp_path, {"other.py": "x = 1\n"}, unsafe=True)
    assert first.before.findings, "it is found"
    assert all(reasons(first))
    assert {f.fingerprint for f in first.offer.findings} == {
        *(f.fingerprint for f in first.offer.repaired),
        *(r.finding.fingerprint for r in first.offer.refusals),
    }
    for file in first.offer.files:
        compile(file.after, file.path, "exec")
        assert file.after.startswith(b"\xef\xbb\xbf") is bool(mark)
        if end != "\n":
            assert file.after.count(b"\n") == (file.after.count(b"\r\n") if end == "\r\n" else 0)
        file.place.write_bytes(file.after)
    again = fixed(tmp_path, {"other.py": "x = 1\n"}, unsafe=True)
    assert not again.offer.files


def test_most_layouts_are_fixed(tmp_path: Path) -> None:
    source = "import kiln\n\n\n" + "\n\n".join(LAYOUTS["comments"].replace("def f", f"def f{i}") for i in range(3))
    result = fixed(tmp_path, source, unsafe=True)
    assert not result.offer.refusals
    assert not result.after.failed
