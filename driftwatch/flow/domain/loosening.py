"""A container that goes to somebody who may change it: what may be in it afterwards."""

from __future__ import annotations

from dataclasses import replace

from driftwatch.flow.domain.state import Content, DictContent, Entry, ListContent
from driftwatch.flow.domain.taint import made_from
from driftwatch.flow.domain.values import join, unknown, value_of
from driftwatch.releases import ReleaseSet


def loosened(content: Content, where: ReleaseSet) -> Content:
    """A container of which anything may have become in these releases."""
    if isinstance(content, DictContent):
        return content.having({k: _loose(e, where) for k, e in content.entries.items()}).opened(where)
    if isinstance(content, ListContent):
        # What stood somewhere may be anywhere, or nowhere.
        kept = tuple(replace(e, releases=e.releases - where, certain=e.certain - where) for e in content.elements)
        held = value_of(a for e in content.elements for a in e.value.within(where & e.releases).alternatives)
        others = join(join(content.further(), held), unknown(where))
        elements = tuple(e for e in kept if e.releases)
        return replace(content, elements=elements, open=content.open | where, others=others)
    return content


def _loose(entry: Entry, where: ReleaseSet) -> Entry:
    here = entry.releases & where
    if not here.mask:
        return entry
    # What told something about the release may be a guard still.
    value, certain = join(entry.value, made_from(here, entry.value)), entry.certain - where
    return entry if value == entry.value and certain == entry.certain else replace(entry, certain=certain, value=value)
