"""DW105: a result is taken apart into more or fewer values than it has in some release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.binding.calls import callee_epochs
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ItemUse, Outcome, UnpackUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import needs

_HEADING = Heading("DW105", "result-length", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, UnpackUse | ItemUse):
        return
    fits: ReleaseSet = EMPTY
    wrong: dict[tuple[int, ...], ReleaseSet] = {}
    for releases, epochs in callee_epochs(replace(use, releases=context.history.timeline.all), context.history):
        possible = [signature.gives if signature else () for each in epochs for signature in each.symbol.possible]
        lengths = tuple(sorted({length for gives in possible for length in gives}))
        if not all(possible):
            continue
        if any(map(use.fits, lengths)):
            fits |= releases
        elif releases & use.releases:
            wrong[lengths] = wrong.get(lengths, EMPTY) | (releases & use.releases)
    for lengths, releases in wrong.items():
        hint = f"{needs(context.history, fits)} as it is; or look at its `len` first" if fits else "look at its `len`"
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            releases,
            f"`{use.callee.qualname}` gives {_counted(lengths)} in {RELEASES}, and {_asked(use)}",
            hint,
        )


def _counted(lengths: tuple[int, ...]) -> str:
    return f"{' or '.join(map(str, lengths))} value{'' if lengths == (1,) else 's'}"


def _asked(use: UnpackUse | ItemUse) -> str:
    if isinstance(use, ItemUse):
        return f"`[{use.index}]` asks for another"
    if use.starred:
        return f"at least {use.names - 1} are taken"
    return "1 name takes them" if use.names == 1 else f"{use.names} names take them"


_THREE = """\
import kiln


def check(pot):
    weight, size, glaze = kiln.weigh(pot)
    return glaze
"""

_KEPT = """\
import kiln


def check(pot):
    try:
        found = kiln.weigh(pot)
        return found[2]
    except Exception:
        return None
"""

_COUNTED = """\
import kiln


def check(pot):
    found = kiln.weigh(pot)
    if len(found) == 3:
        weight, size, glaze = found
    else:
        weight, size = found
    return weight
"""

_FIRST = """\
import kiln


def check(pot):
    weight, *rest = kiln.weigh(pot)
    return weight, kiln.weigh(pot)[1]
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A result that is taken apart into another number of values than it has in some release.",
    rationale=(
        "A function that returned two values returns three from some release on, or the other way round. "
        "Python raises ValueError if the names do not fit the values, and IndexError for an index beyond "
        "them. driftwatch reads the number of values from the `return` statements and the annotation, if "
        "these agree. Otherwise it says nothing."
    ),
    hint="Require a release that gives as many values, or look at the result's `len` first.",
    check=check,
    bad=(
        Example("Three names, and two values up to 1.2", _THREE, (Expected(5, "1.0 to 1.2"),)),
        Example(
            "Asked for by its number, and a broad handler hides it", _KEPT, (Expected(7, "1.0 to 1.2", Outcome.SILENT),)
        ),
    ),
    good=(
        Example("Its length is looked at first", _COUNTED),
        Example("Only what every release gives", _FIRST),
    ),
)
