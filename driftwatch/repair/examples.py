"""What repairs look like: before and after, by the rule that a repair is for. They are its tests and its documentation.

Each is written against the example library of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepairExample:
    """A file before and after. `against` is the range that it is fixed for; `unsafe` that it is offered when asked."""

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

_CALL_FIXED = f"""\
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

_DEFAULT_FIXED = """\
import kiln


def bake(pot):
    return kiln.fire(pot, minutes=30)
"""

_RENAMED = """\
import kiln


def clean(pot):
    return kiln.wash(pot, degrees=40)
"""

_RENAMED_FIXED = """\
import kiln


def clean(pot):
    return kiln.wash(pot, temperature=40)
"""

_POSITIONAL = """\
import kiln


def store(pot, shelf):
    return kiln.stack(pot, shelf, 3)
"""

_POSITIONAL_FIXED = """\
import kiln


def store(pot, shelf):
    return kiln.stack(pot, shelf, height=3)
"""

_MOVED = """\
from kiln import spin


def turn(clay):
    return spin(clay)
"""

_MOVED_FIXED = """\
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

_REPLACED_FIXED = """\
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

_NARROW_FIXED = """\
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

_PROBE_FIXED = """\
import inspect

import kiln

try:
    HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters
except (TypeError, ValueError):
    HAS_GLAZE = False
"""

EXAMPLES: Mapping[str, tuple[RepairExample, ...]] = {
    "DW101": (
        RepairExample("It is passed where the installed build takes it", _CALL, _CALL_FIXED, unsafe=True),
        RepairExample("The default of every release that has it is left out", _DEFAULT, _DEFAULT_FIXED),
        RepairExample("Its place says that it has got another name", _RENAMED, _RENAMED_FIXED, ">=2.0", unsafe=True),
    ),
    "DW103": (RepairExample("The name is the same in all releases", _POSITIONAL, _POSITIONAL_FIXED),),
    "DW201": (RepairExample("The name has moved, and the range needs both places", _MOVED, _MOVED_FIXED),),
    "DW301": (RepairExample("Upstream names what replaces it", _REPLACED, _REPLACED_FIXED, against="==1.2"),),
    "DW501": (RepairExample("Whatever the import raises is taken, and logged", _NARROW, _NARROW_FIXED),),
    "DW502": (RepairExample("Where it raises, nothing is known", _PROBE, _PROBE_FIXED),),
}
