"""The order in which Python looks a name up in a class and its bases (C3), for classes that are only known by facts.

A hierarchy that Python itself would refuse still gets an order: depth first, each class once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def linearized(start: T, bases: Callable[[T], Sequence[T]]) -> tuple[T, ...]:
    """The class and all its bases in lookup order. `bases` gives a class's own bases; cycles are cut."""
    known: dict[T, tuple[T, ...]] = {}
    entered: set[T] = set()

    def order(current: T) -> tuple[T, ...]:
        if current in known:
            return known[current]
        entered.add(current)
        own = [base for base in bases(current) if base not in entered]
        rows = [list(order(base)) for base in own]
        entered.discard(current)
        known[current] = (current, *_merged([*rows, list(own)]))
        return known[current]

    return order(start)


def _merged(rows: list[list[T]]) -> list[T]:
    result: list[T] = []
    rows = [row for row in rows if row]
    while rows:
        head = next((row[0] for row in rows if not any(row[0] in other[1:] for other in rows)), None)
        if head is None:
            return [*result, *dict.fromkeys(item for row in rows for item in row)]
        result.append(head)
        rows = [rest for row in rows if (rest := [item for item in row if item != head])]
    return result
