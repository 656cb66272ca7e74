"""DW203: a method, field or constant that its class does not have in some release."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.binding.classes import candidates, look_up
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import NameUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.scope import in_scope
from driftwatch.rules.wording import did_you_mean, needs, nowhere
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref

_HEADING = Heading("DW203", "missing-member", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    history = context.history
    if not isinstance(use, NameUse) or not use.owner.qualname or not in_scope(history, use.owner.module):
        return
    possible = context.once(_may_have, use.owner, use.name, use.instance, use.exact)
    if use.name.startswith("_") and not possible:
        return
    missing = (use.releases & history.present(use.owner)) - possible
    if not missing:
        return
    several = use.instance and not use.exact and bool(history.subclasses(use.owner))
    owner = f"`{use.owner.qualname}`" + (" and its subclasses have" if several else " has")
    if possible:
        hint = f"{needs(history, possible)}; or look for it first, with `hasattr`"
    else:
        hint = f"{nowhere(history)} has it{did_you_mean(use.name, _known(history, use))}"
    # What a class never had, code that is used would have been seen to miss: the type it is said to be of is not true.
    doubtful = use.instance and not use.exact and not possible and len(history.timeline) > 1
    yield _HEADING.verdict(
        use,
        use.owner.member(use.name).dotted,
        missing,
        f"{owner} no `{use.name}` in {RELEASES}",
        f"{hint}, or it is of another type than is declared" if doubtful else hint,
        severity=Severity.WARNING if doubtful else None,
        in_no_release=not possible,
    )


def _may_have(history: History, owner: Ref, name: str, instance: bool, exact: bool) -> ReleaseSet:
    """Where the class, or one an instance may be of, has the member, or nobody can tell."""
    result = EMPTY
    for cls, here in candidates(history, owner, history.timeline.all, exact=exact or not instance):
        found = look_up(history, cls, name, here, instance=instance)
        result |= found.present | found.unknown
    return result


def _known(history: History, use: NameUse) -> Iterator[str]:
    yield from history.members(use.owner)
    for below in history.subclasses(use.owner):
        yield from history.members(below)


_METHOD = """\
import kiln


def finish():
    shelf = kiln.open_shelf("wood")
    shelf.wax()
    return shelf
"""

_CONSTANT = """\
from kiln import Glaze


def favourite():
    return Glaze.COBALT
"""

_GUARDED = """\
import kiln


def finish():
    shelf = kiln.open_shelf("wood")
    if hasattr(shelf, "wax"):
        shelf.wax()
    return shelf
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A method, field or constant that its class does not have in some release.",
    rationale=(
        "Reading the member raises AttributeError. A function that is annotated with a base class may return "
        "any of its subclasses. So a member counts as missing only in releases in which neither the class nor "
        "any of its subclasses in the library has it, and no foreign base can bring it. What no known release has "
        "is a warning where the class is only declared, by an annotation, and not called: the annotation may be wrong."
    ),
    hint="Require a release that has the member, or look for it first with `hasattr`.",
    check=check,
    bad=(
        Example("A method that no shelf had before 1.2", _METHOD, (Expected(6, "1.0 to 1.1"),)),
        Example("An enum member that came later", _CONSTANT, (Expected(5, "1.0"),)),
    ),
    good=(Example("Looked for first", _GUARDED),),
)
