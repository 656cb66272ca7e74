"""The uses behind a finding: what a repair must know beyond what is reported.

Enters: what a scan reached. Leaves: the uses at a place, with the paths of reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Argument, CallUse, Location, Use
from driftwatch.rules.rule import Context


@dataclass(slots=True)
class Evidence:
    """Uses by distribution and file, with the context of the rules."""

    contexts: dict[str, Context] = field(default_factory=dict)
    _by_file: dict[tuple[str, str], list[Use]] = field(default_factory=dict)

    def add(self, prefix: str, uses: Iterable[Use]) -> None:
        for use in uses:
            shown = moved(use, prefix)
            for path in {shown.location.path, *(p.path for p in _places(shown))}:
                self._by_file.setdefault((shown.distribution, path), []).append(shown)

    def at(self, finding: Finding) -> Iterator[Use]:
        """The uses that touch the file of a finding."""
        return iter(self._by_file.get((finding.distribution, finding.location.path), ()))

    def calls(self, finding: Finding) -> list[tuple[CallUse, Argument]]:
        """The calls a finding about a keyword is of, each with the argument."""
        found = []
        for use in self.at(finding):
            if isinstance(use, CallUse) and use.callee.dotted == finding.symbol:
                for argument in use.keywords:
                    place = argument.location or use.location
                    if argument.name == finding.parameter and place == finding.location:
                        found.append((use, argument))
        return found


def _places(use: Use) -> Iterator[Location]:
    if isinstance(use, CallUse):
        for argument in (*use.positional, *use.keywords):
            if argument.location is not None:
                yield argument.location


def moved(use: Use, prefix: str) -> Use:
    """A use with its places as reports show them."""
    if not prefix:
        return use

    def there(place: Location | None) -> Location | None:
        return place and replace(place, path=prefix + place.path)

    def argument(each: Argument) -> Argument:
        trace = tuple(replace(step, path=prefix + step.path) for step in each.trace)
        return replace(each, location=there(each.location), written=there(each.written), trace=trace)

    location = there(use.location)
    assert location is not None
    if isinstance(use, CallUse):
        return replace(
            use,
            location=location,
            positional=tuple(map(argument, use.positional)),
            keywords=tuple(map(argument, use.keywords)),
        )
    return replace(use, location=location)
