"""Where a name of the library has gone to, or what replaces it: all that the history shows, and nothing that looks so.

Enters: a history and a name. Leaves: the names that stand for it, the surest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.repair.model import NoRepairError
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, Signature

_NAMED = re.compile(
    r"(?:\buse|\bimport|\bby|\bwith|\bto|\bfavou?r of|:)\s+(?::\w+:)?[`'\"~]*((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)",
    re.IGNORECASE,
)


def successors(history: History, old: Ref) -> Iterator[tuple[Ref, ReleaseSet]]:
    """Where the object of a name is as well, or has gone to, and the releases with it: the surest first, then by name.

    What the library has from somewhere else is there wherever the library still has it under some name.
    """
    was = history.of(old)
    if not was:
        return
    definitions = {history.definition(epoch, old) for epoch in was}
    same: list[Ref] = []
    alike: list[Ref] = []
    foreign: dict[Ref, ReleaseSet] = {}
    for ref in history.epochs:
        # Of nearly all others the name is enough: what a symbol is, is read when it is asked for.
        near = ref.qualname == old.qualname or ref.module == old.module or ref in definitions
        if not near or ref == old or not ref.qualname or "." in ref.qualname or is_private(ref):
            continue
        shared = [each for each in history.of(ref) if history.definition(each, ref) in definitions]
        made = [(history.definition(each, ref), each.releases) for each in shared]
        for where, releases in made:
            if not _is_own(history, where):
                foreign[where] = foreign.get(where, EMPTY) | releases
        if any(_is_own(history, where) for where, _ in made):
            same.append(ref)
        elif not shared and ref.qualname == old.qualname and _takes_over(history, old, ref):
            alike.append(ref)
    for where, releases in sorted(foreign.items()):
        yield where, union([releases, *(each.releases for each in was if history.definition(each, old) == where)])
    found = sorted(same, key=lambda ref: (ref.qualname != old.qualname, len(ref.module), ref))
    if (named := _said(history, old)) is not None:
        found.append(named)
    if len({made_at(history, ref) for ref in alike}) == 1:
        found += sorted(alike, key=lambda ref: (len(ref.module), ref))
    yield from ((ref, history.present(ref)) for ref in found)


def _is_own(history: History, ref: Ref) -> bool:
    return ref.module.partition(".")[0] == history.module.partition(".")[0]


def _takes_over(history: History, old: Ref, new: Ref) -> bool:
    """Whether a name of the same kind and signature comes in the release in which the old one is gone."""
    gone, come = list(history.present(old).indices()), list(history.present(new).indices())
    if not come or come[0] != gone[-1] + 1:
        return False
    was, now = history.of(old)[-1].symbol, history.of(new)[0].symbol
    return was.signature is not None and (was.kind, was.signature) == (now.kind, now.signature)


def made_at(history: History, ref: Ref) -> Ref:
    return history.definition(history.of(ref)[0], ref)


def is_private(ref: Ref) -> bool:
    """Whether a name is not to be imported: a private one, or one of what only stands for something."""
    return any(part.startswith("_") or not part.isidentifier() for part in (*ref.module.split("."), ref.qualname))


def _said(history: History, ref: Ref) -> Ref | None:
    """What upstream has said replaces a name, where it is recorded and takes the same."""
    try:
        return replacement(history, ref)
    except NoRepairError:
        return None


def replacement(history: History, ref: Ref) -> Ref:
    """What the mark names, where it is recorded and takes the same."""
    messages = [e.symbol.deprecated.message for e in history.of(ref) if e.symbol.deprecated is not None]
    if not any(messages):
        raise NoRepairError("upstream does not say what replaces it")
    named = [found for message in messages for found in _NAMED.findall(message or "")]
    for text in named:
        head, _, last = text.rpartition(".")
        places = [module for module in history.modules() if module.replace(".", "").isidentifier()]
        places = [module for module in places if not head or module == head or module.endswith(f".{head}")]
        for new in sorted((Ref(module, last) for module in places), key=lambda new: new.module != ref.module):
            if new != ref and history.of(new):
                if _takes(history, new) != _takes(history, ref):
                    raise NoRepairError(f"`{new.qualname}`, which replaces it, does not take the same")
                return new
    raise NoRepairError(
        "what upstream names in its place is not recorded" if named else "upstream names no replacement"
    )


def _takes(history: History, ref: Ref) -> set[tuple[object, ...]]:
    """What a name takes in the releases that have it, as far as a call can tell."""
    last = max(history.of(ref), key=lambda epoch: epoch.releases.mask.bit_length())
    return {_shape(signature) for signature in last.symbol.possible}


def _shape(signature: Signature | None) -> tuple[object, ...]:
    if signature is None:
        return (None,)
    return tuple((each.name, each.kind, each.default) for each in signature.parameters)
