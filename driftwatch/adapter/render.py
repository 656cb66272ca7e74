"""A plan and the runtime sources, written as one Python module.

Enters: plain data (see `plan`), the policy, and the sources of the modules it embeds.
Leaves: the text of the file. The same input gives the same bytes; the header holds
digests of what went in and of the body, by which `read_header` and
`write.check_adapter` tell a stale file from an edited one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driftwatch.adapter.embed import WIDTH, embed
from driftwatch.adapter.literal import literal, text
from driftwatch.adapter.policy import Policy
from driftwatch.errors import InputError
from driftwatch.snapshot.model.adapted import (
    ADAPTER_MARK,
    OWN_ERRORS,
    OWN_NAMES,
    RUNTIME_MARK,
)

RUNTIME = (
    "signatures",
    "installed",
    "rules",
    "settler",
    "wrapping",
    "classes",
    "binding",
    "submodules",
    "runtime",
)
"""The modules of this folder in every adapter, each after what it imports."""
_FIELD = re.compile(r"# ([a-z-]+): (.*)")


def sources(policy: Policy) -> list[tuple[str, str]]:
    """(name, source) of every module an adapter embeds.

    The runtime, then the target's own.
    """
    here = Path(__file__).parent
    paths = [here / f"{name}.py" for name in RUNTIME] + [
        policy.path.parent / f"{name}.py" for name in policy.embed
    ]
    try:
        return [(path.stem, path.read_text(encoding="utf-8")) for path in paths]
    except OSError as error:
        raise InputError(
            f"a source of the adapter cannot be read: {error.filename}: "
            f"{error.strerror}"
        ) from None


def render(
    plan: Mapping[str, Any],
    policy: Policy,
    names: Sequence[str],
    options: Mapping[str, str],
) -> str:
    """The file. `names` are the functions it offers.

    `options` are what it was asked for with, kept in the header so that it can be made
    again.
    """
    joined = embed(sources(policy))
    body = "\n".join(
        [
            _docstring(plan),
            "",
            joined.imports(),
            "",
            *_data(plan, names, policy),
            "\n" + "\n\n\n".join(joined.bodies),
            "",
            "",
            _tail(names, policy),
        ]
    )
    return header(plan, policy, options, body) + body


def render_split(
    plan: Mapping[str, Any],
    policy: Policy,
    names: Sequence[str],
    options: Mapping[str, str],
    runtime: str,
) -> tuple[str, str]:
    """The same as two files: one with the data, and the module `runtime` beside it.

    A release that changes nothing but signatures changes the first alone.
    """
    joined = embed(sources(policy))
    taken = [*policy.exports, *OWN_ERRORS, "Adapter", "offer_submodules"]
    taken += [name for name in (policy.conditions, policy.install) if name]
    taken.append(policy.main or "as_table")
    listed = [f"    {name}," for name in sorted(taken, key=_public_order)]
    body = "\n".join(
        [
            _docstring(plan),
            "",
            "from __future__ import annotations",
            "",
            *(["import sys"] if policy.main else []),
            "from collections.abc import Callable",
            "from typing import Any",
            "",
            "if __package__:",
            *_indented([f"from .{runtime} import (", *listed, ")"]),
            "else:",
            *_indented([f"from {runtime} import (", *listed, ")"]),
            "",
            *_data(plan, names, policy),
            "",
            _tail(names, policy),
        ]
    )
    own = "\n".join(
        [
            _runtime_docstring(plan),
            "",
            joined.imports(),
            "",
            "\n" + "\n\n\n".join(joined.bodies),
            "",
        ]
    )
    fields = {"library": f"{plan['distribution']} of any release", "body": _digest(own)}
    return header(plan, policy, options, body) + body, _header(
        RUNTIME_MARK, fields
    ) + own


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _data(plan: Mapping[str, Any], names: Sequence[str], policy: Policy) -> list[str]:
    """What the file offers, and all that it knows, for a reader first."""
    public = sorted(
        [*names, *policy.exports, *OWN_ERRORS, *OWN_NAMES], key=_public_order
    )
    return [
        "__all__ = [",
        *(f"    {text(name)}," for name in public),
        "]",
        "",
        *_WHAT_IT_KNOWS,
        f"DATA: dict[str, Any] = {literal(dict(plan), 0, 23)}",
    ]


_WHAT_IT_KNOWS = (
    "# What is known: of each function its signatures, oldest first, each with the",
    "# releases that have it (None: to the newest), and what may become of an argument",
    "# that a build does not take, with the reason and where it can be read.",
)


def header(
    plan: Mapping[str, Any], policy: Policy, options: Mapping[str, str], body: str
) -> str:
    """The comment lines at the top of the file: what it was made from."""
    releases = plan["releases"]
    parts = sources(policy)
    fields = {
        "library": (
            f"{plan['distribution']} {releases[0]} to {releases[-1]} "
            f"({len(releases)} releases)"
        ),
        **options,
        "signatures": _digest(literal([plan["releases"], plan["functions"]])),
        "policy": _digest(literal([plan["target"], plan["companions"]])),
        "runtime": _digest("\0".join(f"{name}\0{source}" for name, source in parts)),
        "body": _digest(body),
    }
    return _header(ADAPTER_MARK, fields)


def _header(mark: str, fields: Mapping[str, str]) -> str:
    lines = [f"# {key}: {value}" for key, value in fields.items()]
    return "\n".join([mark, "#", *lines, ""])


def without_preface(file: str, mark: str = ADAPTER_MARK) -> str:
    """The file from its first line on.

    Comments above it, a licence say, are of those who keep it in their tree.
    """
    lines = file.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.rstrip("\r\n") == mark:
            return "".join(lines[number:])
        if line.strip() and not line.startswith("#"):
            break
    raise InputError(
        "this file is no adapter that driftwatch made",
        "write one with 'driftwatch adapter write'",
    )


def read_header(file: str, mark: str = ADAPTER_MARK) -> tuple[dict[str, str], str]:
    """The fields of a file's header, and its body."""
    fields: dict[str, str] = {}
    lines = without_preface(file, mark).splitlines(keepends=True)
    count = 1
    for line in lines[1:]:
        if not line.startswith("#"):
            break
        count += 1
        match = _FIELD.fullmatch(line.rstrip("\r\n"))
        if match:
            fields[match[1]] = match[2]
    return fields, "".join(lines[count:])


def body_digest(body: str) -> str:
    """The digest that an untouched file's header gives for this body."""
    return _digest(body)


def _docstring(plan: Mapping[str, Any]) -> str:
    module = plan["module"]
    return f'''"""The functions of {module}, made right for whatever build is installed.

Import this module in its place. Where the installed build takes everything, a name here
is the library's own function; elsewhere it is a wrapper that drops what that build does
anyway and refuses the rest with `UnsupportedArgument`. `report()` says what was found
and decided, ``python FILE`` prints it. It needs nothing but the standard library.
"""'''


def _runtime_docstring(plan: Mapping[str, Any]) -> str:
    return f'''"""The run time of the adapter of {plan["module"]} beside this file.

It knows of no release, which the adapter does, and needs the standard library alone.
"""'''


def _tail(names: Sequence[str], policy: Policy) -> str:
    conditions = f", {policy.conditions}" if policy.conditions else ""
    lines = [
        "# -- the adapter ".ljust(WIDTH, "-"),
        "",
        f"ADAPTER = Adapter(DATA{conditions})",
        *(_binding(name, is_class=name in policy.classes) for name in names),
    ]
    if policy.install:
        lines.append(f"{policy.install}(ADAPTER)")
    lines += [
        "__path__: list[str] = []",
        'offer_submodules(__name__, DATA["module"])',
        "",
        "",
        "def available(name: str) -> bool:",
        '    """Whether the installed build has a name, so that using it can work."""',
        "    return ADAPTER.available(name)",
        "",
        "",
        "def report() -> dict[str, Any]:",
        '    """What is installed, on what evidence it is called, what was decided."""',
        "    return ADAPTER.report()",
        "",
        "",
        "def __getattr__(name: str) -> Any:",
        "    return ADAPTER.attribute(name)",
        "",
        "",
        'if __name__ == "__main__":',
        f"    sys.exit({policy.main}(ADAPTER))"
        if policy.main
        else "    print(as_table(report()))",
        "",
    ]
    return "\n".join(lines)


def _binding(name: str, *, is_class: bool) -> str:
    if is_class:
        return f"{name}: Any = ADAPTER.function({text(name)})"
    head, call = f"{name}: Callable[..., Any] = ", f"ADAPTER.function({text(name)})"
    if len(head + call) <= WIDTH:
        return head + call
    if len(head) + len("ADAPTER.function(") <= WIDTH:
        return f"{head}ADAPTER.function(\n    {text(name)}\n)"
    return f"{head}(\n    {call}\n)"


def _public_order(name: str) -> tuple[int, str]:
    """The order that ruff wants of ``__all__``: constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _digest(text_: str) -> str:
    return "sha256:" + hashlib.sha256(text_.encode()).hexdigest()
