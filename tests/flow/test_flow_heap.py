"""The heap in layers is a dict that is copied and compared without a look at what two of them have in common."""

from __future__ import annotations

import random

import pytest

from driftwatch.flow.domain.contents import Content, ListContent
from driftwatch.flow.domain.heap import Heap
from driftwatch.releases import ReleaseSet

CONTENTS: list[Content] = [ListContent(open=ReleaseSet(mask)) for mask in range(6)]
NUMBERS = 40


def is_open(content: Content) -> bool:
    return isinstance(content, ListContent) and content.open.mask > 2


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_dict_whatever_is_done_to_it_and_its_copies(seed: int) -> None:
    rng = random.Random(seed)
    pairs: list[tuple[Heap, dict[int, Content]]] = [(Heap(), {})]
    for _ in range(600):
        heap, plain = rng.choice(pairs)
        number, content = rng.randrange(NUMBERS), rng.choice(CONTENTS)
        match rng.randrange(8):
            case 0:
                pairs = [*pairs[-5:], (heap.copy(), plain.copy())]
            case 1 if number in plain:
                del heap[number], plain[number]
            case 2:
                other, others = rng.choice(pairs)
                heap.add(other)
                plain.update({k: v for k, v in others.items() if k not in plain})
            case 3:
                other, others = rng.choice(pairs)
                heap.follow(other)
                plain.update(others)
            case _:
                heap[number] = content
                plain[number] = content
    for heap, plain in pairs:
        assert heap.as_dict() == dict(heap) == plain
        assert [heap.get(number) for number in range(NUMBERS)] == [plain.get(number) for number in range(NUMBERS)]
        assert dict(heap.passing(is_open)) == {k: v for k, v in plain.items() if is_open(v)}
        for other, others in pairs:
            keys = plain.keys() | others.keys()
            differing = {k: (plain.get(k), others.get(k)) for k in keys if plain.get(k) is not others.get(k)}
            assert {number: pair for number, *pair in heap.differences(other)} == {
                key: list(pair) for key, pair in differing.items()
            }
            assert heap.equals(other) == (plain == others)


def test_the_content_that_is_not_there_is_no_content() -> None:
    heap = Heap({1: CONTENTS[1]})
    below = heap.copy()
    del below[1]
    assert 1 in heap and 1 not in below
    with pytest.raises(KeyError):
        below[1]
    assert below.get(1, CONTENTS[2]) == CONTENTS[2]


def test_what_two_have_in_common_is_not_looked_at() -> None:
    class Untouched(ListContent):
        def __eq__(self, other: object) -> bool:
            raise AssertionError("it is in both")

        __hash__ = None  # type: ignore[assignment]

    heap = Heap({number: Untouched() for number in range(1000)})
    left, right = heap.copy(), heap.copy()
    for number in range(1000, 1200):
        left[number] = CONTENTS[number % 3]
        left = left.copy()
    right[1200] = CONTENTS[0]
    assert len(left.differences(right)) == 201
    assert not left.equals(right)
    assert left.copy().equals(left)


def test_there_are_few_layers() -> None:
    heap = Heap()
    for number in range(5000):
        heap[number] = CONTENTS[0]
        heap = heap.copy()
    assert len(heap) == 5000
    assert len(heap.layers) < 10
