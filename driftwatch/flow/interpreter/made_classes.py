"""Classes that a call makes: ``type(name, bases, members)``, ``namedtuple``, ``make_dataclass``.

Enters: what such a call is given, as far as it is known. Leaves: a class like one that is written, whose members are
what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from driftwatch.flow.domain.code import ClassCode
from driftwatch.flow.domain.contents import DictContent
from driftwatch.flow.domain.lineage import derive
from driftwatch.flow.domain.renaming import reachable
from driftwatch.flow.domain.values import Class, LibObject, Value
from driftwatch.flow.interpreter.classes import base_of, tell_bases
from driftwatch.flow.interpreter.member_writes import stays
from driftwatch.flow.interpreter.run import Run


def make_class(
    run: Run,
    node: cst.CSTNode,
    name: str,
    bases: Sequence[Value],
    members: Mapping[str, Value],
    *,
    fields: Sequence[str] = (),
    record: bool = False,
) -> Value:
    """The class that a call makes; a `record` has a constructor that Python writes, for its fields."""
    reach, frame = run.state.reach, run.frame
    written = name if name.isidentifier() else "_"
    body = "".join(f"    {field}: object\n" for field in fields if field.isidentifier()) or "    pass\n"
    header = "@dataclass\n" if record else ""
    text = f"{header}class {written}:\n{body}"
    place = (id(node), frame.uid, *frame.turns)
    definition = run.world.identities.definition(place, lambda: frame.tree.definition(text, node))
    code = run.world.identities.of_class(frame, definition)
    code.reach |= reach
    derive(code, tuple(base_of(run, base) for base in bases))
    for value in members.values():
        stays(run, value)
    code.constants.update(members)
    code.heap.update({key: run.state.heap[key] for key in reachable(members.values(), run.state.heap)})
    frame.defined.classes.append(code)
    _of_library(run, code, node)
    tell_bases(run, code, DictContent(), node)
    return Value(((reach, Class(code)),))


def _of_library(run: Run, code: ClassCode, node: cst.CSTNode) -> None:
    for base in code.base_values:
        for _, atom in base.alternatives:
            if isinstance(atom, LibObject):
                run.unresolved(node, f"a class is made here that derives from `{atom.ref.dotted}`")
