"""What repairs look like: before and after, by the rule that a repair is for. They are its tests and its documentation.

Each is written against the example library of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mended:
    """A file before and after. `against` is the range that it is mended for; `unsafe` that it is offered when asked."""

    title: str
    before: str
    after: str
    against: str | None = None
    unsafe: bool = False


_HELPER = '''\
def _takes(function, parameter):
    """Whether the installed function takes a parameter; False if it cannot be told."""
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
'''

_CALL = """\
import kiln


def bake(pot):
    return kiln.fire(pot, minutes=30, glaze="blue")
"""

_CALL_MENDED = f"""\
import inspect

import kiln


{_HELPER}

_FIRE_TAKES_GLAZE = _takes(kiln.fire, "glaze")


def bake(pot):
    kwargs = {{}}
    # Releases without `glaze`: leaving it out could change the result.
    if _FIRE_TAKES_GLAZE:
        kwargs["glaze"] = "blue"
    return kiln.fire(pot, minutes=30, **kwargs)
"""

_DEFAULT = """\
import kiln


def bake(pot):
    return kiln.fire(pot, minutes=30, glaze=None)
"""

_DEFAULT_MENDED = """\
import kiln


def bake(pot):
    return kiln.fire(pot, minutes=30)
"""

_RENAMED = """\
import kiln


def clean(pot):
    return kiln.wash(pot, degrees=40)
"""

_RENAMED_MENDED = """\
import kiln


def clean(pot):
    return kiln.wash(pot, temperature=40)
"""

_POSITIONAL = """\
import kiln


def store(pot, shelf):
    return kiln.stack(pot, shelf, 3)
"""

_POSITIONAL_MENDED = """\
import kiln


def store(pot, shelf):
    return kiln.stack(pot, shelf, height=3)
"""

_MOVED = """\
from kiln import spin


def turn(clay):
    return spin(clay)
"""

_MOVED_MENDED = """\
try:
    from kiln.wheel import spin
except ImportError:
    from kiln import spin


def turn(clay):
    return spin(clay)
"""

_REPLACED = """\
import kiln


def sign(pot):
    return kiln.mark(pot)
"""

_REPLACED_MENDED = """\
import kiln


def sign(pot):
    return kiln.stamp(pot)
"""

_NARROW = """\
import logging

logger = logging.getLogger(__name__)

try:
    import kiln
except ImportError:
    kiln = None
"""

_NARROW_MENDED = """\
import logging

logger = logging.getLogger(__name__)

try:
    import kiln
except Exception as error:
    logger.debug("kiln cannot be imported: %s", error)
    kiln = None
"""

_PROBE = """\
import inspect

import kiln

HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters
"""

_PROBE_MENDED = """\
import inspect

import kiln

try:
    HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters
except (TypeError, ValueError):
    HAS_GLAZE = False
"""

EXAMPLES: Mapping[str, tuple[Mended, ...]] = {
    "DW101": (
        Mended("It is passed where the installed build takes it", _CALL, _CALL_MENDED, unsafe=True),
        Mended("The default of every release that has it is left out", _DEFAULT, _DEFAULT_MENDED),
        Mended("It has got another name", _RENAMED, _RENAMED_MENDED, against=">=2.0"),
    ),
    "DW103": (Mended("The name is the same in all releases", _POSITIONAL, _POSITIONAL_MENDED),),
    "DW201": (Mended("The name has moved, and the range needs both places", _MOVED, _MOVED_MENDED),),
    "DW301": (Mended("Upstream names what replaces it", _REPLACED, _REPLACED_MENDED, against="==1.2"),),
    "DW501": (Mended("Whatever the import raises is taken, and logged", _NARROW, _NARROW_MENDED),),
    "DW502": (Mended("Where it raises, nothing is known", _PROBE, _PROBE_MENDED),),
}
