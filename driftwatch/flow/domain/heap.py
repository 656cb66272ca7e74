"""The heap of a program state: containers and instances by their numbers, in layers that states have in common.

A copy takes no longer for a large heap than for a small one, and what two heaps do not have in common is found without
looking at what they do: a state is forked at each test and joined where its ways meet, and most of what it holds was
made long before. The layers are never changed. Each is several times as large as the one above it, so that there are
few of them, and what has changed since a fork lies in those on top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftwatch.flow.domain.contents import Content

RATIO = 4
"""How many times as large a layer is, at least, as the one above it."""

SMALL = 8
"""A layer with fewer entries than this has none above it."""


class _Layer(dict[int, "Content | None"]):
    """What has been put into a heap since the layer below; None is what has been taken out."""

    __slots__ = ("found",)

    found: list[int]
    """The numbers of what passes a test, once that has been asked."""


class Heap(MutableMapping[int, "Content"]):
    """Contents by number. `copy` before going two ways."""

    __slots__ = ("_below", "_own")

    def __init__(self, contents: Mapping[int, Content] | None = None) -> None:
        self._own: _Layer = _Layer(contents or {})
        self._below: tuple[_Layer, ...] = ()
        """Never changed, the topmost first."""

    def copy(self) -> Heap:
        """Another one with the same contents."""
        if self._own:
            self._below, self._own = _stacked(self._own, self._below), _Layer()
        made: Heap = _new(Heap)
        made._below, made._own = self._below, _Layer()
        return made

    # -- a dict ----------------------------------------------------------------------------------------------------

    def get(self, number: int, default: Content | None = None) -> Content | None:  # type: ignore[override]
        """What is under a number."""
        if number in self._own:
            found = self._own[number]
            return default if found is None else found
        for layer in self._below:
            if number in layer:
                found = layer[number]
                return default if found is None else found
        return default

    def __getitem__(self, number: int) -> Content:
        found = self.get(number)
        if found is None:
            raise KeyError(number)
        return found

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.get(number) is not None

    def __setitem__(self, number: int, content: Content) -> None:
        self._own[number] = content

    def __delitem__(self, number: int) -> None:
        self._own[number] = None

    def __iter__(self) -> Iterator[int]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())

    def as_dict(self) -> dict[int, Content]:
        """All of it, to keep elsewhere."""
        found: dict[int, Content | None] = {}
        for layer in (*reversed(self._below), self._own):
            found.update(layer)
        return {number: content for number, content in found.items() if content is not None}

    @property
    def layers(self) -> tuple[int, ...]:
        """How much is in each of its layers, the topmost first."""
        return tuple(map(len, (self._own, *self._below)))

    # -- two of them -----------------------------------------------------------------------------------------------

    def differences(self, other: Heap) -> list[tuple[int, Content | None, Content | None]]:
        """The numbers under which the two have not the very same thing, with what they have; None is nothing."""
        mine, theirs = self._below, other._below
        if mine is not theirs:
            common, most = 0, min(len(mine), len(theirs))
            while common < most and mine[-1 - common] is theirs[-1 - common]:
                common += 1
            mine, theirs = mine[: len(mine) - common], theirs[: len(theirs) - common]
        else:
            mine = theirs = ()
        numbers = dict.fromkeys(self._own)
        for layer in (*mine, other._own, *theirs):
            numbers.update(dict.fromkeys(layer))
        pairs = ((number, self.get(number), other.get(number)) for number in numbers)
        return [each for each in pairs if each[1] is not each[2]]

    def add(self, other: Heap) -> None:
        """Put in what another one has and this one has not."""
        for number, mine, theirs in self.differences(other):
            if mine is None and theirs is not None:
                self._own[number] = theirs

    def follow(self, other: Heap) -> None:
        """Put in all that another one has."""
        for number, _, theirs in self.differences(other):
            if theirs is not None:
                self._own[number] = theirs

    def equals(self, other: Heap) -> bool:
        """Whether both hold the same."""
        return all(mine == theirs for _, mine, theirs in self.differences(other))

    def passing(self, test: Callable[[Content], bool]) -> list[tuple[int, Content]]:
        """What passes a test, by its number; it is always the same test that is asked."""
        numbers = [number for number, content in self._own.items() if content is not None and test(content)]
        for layer in self._below:
            try:
                found = layer.found
            except AttributeError:
                found = layer.found = [n for n, content in layer.items() if content is not None and test(content)]
            numbers.extend(found)
        there = ((number, self.get(number)) for number in dict.fromkeys(numbers))
        return [(number, content) for number, content in there if content is not None and test(content)]


_new = object.__new__


def _stacked(top: _Layer, below: tuple[_Layer, ...]) -> tuple[_Layer, ...]:
    """A layer on top of others, each of which is larger by far than the one above it."""
    if not below or len(below[0]) > max(RATIO * len(top), SMALL):
        return (top, *below)
    merged, depth = top, 0
    for layer in below:
        if len(layer) > max(RATIO * len(merged), SMALL):
            break
        merged, depth = _Layer({**layer, **merged}), depth + 1
    return (merged, *below[depth:])
