"""A row of releases as HTML: runs of one state each, placed in a grid that has a column for every release.

Enters: states, or epochs, by release. Leaves: elements that say in words what they show. Where a run stands is told by
classes (`c12` begins in column 12, `w3` is 3 wide), since a page that allows no inline style needs none to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftwatch.releases import EMPTY as NONE
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.report.html.markup import Child, Markup, join, tag
from driftwatch.report.matrix import series
from driftwatch.report.states import WORDS, Run, State, States, runs

CLASSES: dict[State, str] = {
    State.UNREACHED: "unreached",
    State.WORKS: "works",
    State.CAUTION: "caution",
    State.DEGRADED: "degraded",
    State.BREAKS: "breaks",
    State.SILENT: "silent",
}
LABELS: dict[State, tuple[str, str]] = {
    State.DEGRADED: ("degraded", "◇"),
    State.BREAKS: ("breaks", "✕"),
    State.SILENT: ("silent", "◉"),
}
"""What a run says of itself where there is room, and where there is little."""


def track(timeline: Timeline, states: States, checked: ReleaseSet, number: int, declared: ReleaseSet = NONE) -> Markup:
    """The states of one row; what the code base itself asks for is marked with a line below."""
    parts = [_run(run, checked) for run in _cut(states, checked)]
    said = in_words(timeline, states)
    if declared:
        said += f"; asks for {timeline.describe(declared)}"
        parts += [tag("u", class_=f"c{run.first} w{run.length}") for run in _members(timeline, declared)]
    return tag("span", parts, class_=f"track t{number}", role="img", aria_label=said)


def _members(timeline: Timeline, releases: ReleaseSet) -> list[Run]:
    """A set as runs of consecutive releases."""
    inside = tuple(State.WORKS if releases.mask >> i & 1 else State.UNREACHED for i in range(len(timeline)))
    return [run for run in runs(inside) if run.state is State.WORKS]


def _cut(states: States, checked: ReleaseSet) -> Iterator[Run]:
    """The runs, cut where the checked range begins and ends."""
    for run in runs(states):
        first = run.first
        for index in range(run.first, run.first + run.length):
            ends = index + 1 == run.first + run.length
            if ends or (checked.mask >> index & 1) != (checked.mask >> (index + 1) & 1):
                yield Run(run.state, first, index + 1 - first)
                first = index + 1


def _run(run: Run, checked: ReleaseSet) -> Markup:
    outside = "" if checked.mask >> run.first & 1 else " out"
    label: Child = None
    if run.state in LABELS:
        long, short = LABELS[run.state]
        label = [tag("b", long, class_="long"), tag("b", short, class_="short")]
    return tag("i", label, class_=f"{CLASSES[run.state]} c{run.first} w{run.length}{outside}", data_s=int(run.state))


def in_words(timeline: Timeline, states: States) -> str:
    """The states of a row in words, the worst first."""
    said = []
    for state in sorted(set(states), reverse=True):
        releases = ReleaseSet(sum(1 << index for index, each in enumerate(states) if each is state))
        said.append(f"{WORDS[state]}: {timeline.describe(releases)}")
    return "; ".join(said)


def scale(timeline: Timeline, checked: ReleaseSet, number: int) -> Markup:
    """The head of a grid: the series, every release as a button, and a bar under those that are checked."""
    begins = [index for index, _ in series(timeline)]
    ends = [*begins[1:], len(timeline)]
    heads = [
        tag("span", name, class_=f"series c{index} w{end - index}{' narrow' if end - index < 5 else ''}")
        for (index, name), end in zip(series(timeline), ends, strict=True)
    ]
    buttons = [
        tag(
            "button",
            tag("span", version),
            type="button",
            class_=f"rel c{index} w1{' edge' if index in begins and index else ''}",
            data_release=index,
            aria_pressed="false",
            aria_label=f"release {version}{', checked' if checked.mask >> index & 1 else ''}",
            tabindex=-1,
        )
        for index, version in enumerate(timeline.versions)
    ]
    bars = [
        tag("span", tag("b", "checked"), class_=f"checked c{run.first} w{run.length}")
        for run in _members(timeline, checked)
    ]
    return join(
        [
            tag("span", heads, class_=f"track t{number} scale-series", aria_hidden="true"),
            tag("span", buttons, class_=f"track t{number} scale-releases"),
            tag("span", bars, class_=f"track t{number} scale-checked", aria_hidden="true"),
        ]
    )


def epochs(timeline: Timeline, pieces: Sequence[tuple[int, int, int]], number: int, words: str) -> Markup:
    """The life of a symbol: pieces of (first, length, ordinal); where there is none, it is absent."""
    parts = [
        tag("i", tag("b", ordinal), class_=f"epoch {'odd' if ordinal % 2 else 'even'} c{first} w{length}")
        for first, length, ordinal in pieces
    ]
    return tag("span", parts, class_=f"track t{number} life", role="img", aria_label=words)


def rules(lengths: Sequence[int], timelines: Sequence[Timeline]) -> str:
    """The style sheet's part that depends on how many releases there are."""
    most = max(lengths, default=0)
    lines = [f".c{index}{{grid-column-start:{index + 1}}}" for index in range(most)]
    lines += [f".w{width}{{grid-column-end:span {width}}}" for width in range(1, most + 1)]
    for number, (length, timeline) in enumerate(zip(lengths, timelines, strict=True)):
        columns = max(length, 1)
        edges = ",".join(
            f"linear-gradient(var(--edge),var(--edge)) {index / columns * 100:.4f}% 0/1px 100% no-repeat"
            for index, _ in series(timeline)
            if index
        )
        # A position in per cent counts the free room, which is all but the line's own pixel.
        lines.append(f".t{number}{{--n:{columns}{f';background:{edges}' if edges else ''}}}")
    return "\n".join(lines)
