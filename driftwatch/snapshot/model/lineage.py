"""The order in which Python looks a name up in a class and its bases (C3), for classes that are only known by facts.

A hierarchy that Python itself would refuse still gets an order: depth first, each class once.
"""

from __future__ import annotations

from collections import Counter
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
        rows = [order(base) for base in own]
        entered.discard(current)
        known[current] = (current, *merged([*rows, own]))
        return known[current]

    return order(start)


def merged(rows: Sequence[Sequence[T]]) -> list[T]:
    """One order of those of the bases, and of the bases themselves: what stands in front of something still does."""
    result: list[T] = []
    behind = Counter(item for row in rows for item in row[1:])
    waiting = [iter(row) for row in rows]
    heads = [next(row, None) for row in waiting]
    while any(head is not None for head in heads):
        first = next((head for head in heads if head is not None and not behind[head]), None)
        if first is None:
            rest = [item for head, row in zip(heads, waiting, strict=True) if head is not None for item in (head, *row)]
            return [*result, *dict.fromkeys(rest)]
        result.append(first)
        for i, head in enumerate(heads):
            if head == first:
                heads[i] = following = next(waiting[i], None)
                if following is not None:
                    behind[following] -= 1
    return result
