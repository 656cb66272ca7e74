"""HTML that is escaped by construction: elements are built, never pasted together.

Enters: names of elements, and children that are text or elements. Leaves: `Markup`. All text is escaped, and what a
terminal or a browser could hide in it is shown, whatever it comes from; only `Markup` itself is taken as it is. There
is no way to write an attribute that runs code: names of attributes are checked, and links lead within the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Union

from driftwatch.report.safe import safe

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_VOID = frozenset({"br", "hr", "input", "meta", "wbr"})

Child = Union["Markup", str, int, None, Iterable["Child"]]
Attribute = str | int | bool | None


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


EMPTY = Markup("")


def text(words: str) -> Markup:
    """Text as it is read, whatever is in it."""
    return Markup(escape(safe(words)))


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element. ``class_`` is the attribute ``class``, ``data_x`` is ``data-x``; None and False leave one out."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Markup:
    """Children one after the other."""
    return Markup(between.join(_shown(child) for child in children))


def _shown(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, (str, int)):
        return text(str(child))
    return join(child)


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on") or name == "style":
        raise ValueError(f"no attribute of ours: {key}")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    if name in ("href", "src") and not str(value).startswith("#"):
        raise ValueError(f"a report leads nowhere else: {value}")
    return f' {name}="{text(str(value))}"'


def ticked(words: str) -> Markup:
    """Text in which what stands between backticks is code, as messages have it."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return text(words)
    return join(tag("code", breakable(part)) if index % 2 else part for index, part in enumerate(parts))


def copied(place: str, shown: str | None = None) -> Markup:
    """A place in a file, which a click copies; `shown` is how much of it stands there."""
    return tag("code", breakable(shown or place), class_="place", data_copy=place)


def breakable(name: str) -> Markup:
    """A dotted name or a path that may be wrapped where its parts end."""
    parts = re.split(r"(?<=[._/])", name)
    return join(parts, "<wbr>")
