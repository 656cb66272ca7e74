"""What driftwatch does not say yet of the programs of this folder, and why. A test holds that it is still so."""

from __future__ import annotations

from collections.abc import Mapping

KNOWN: Mapping[str, str] = {
    "decorators_a_class_that_registers": (
        "said where the function gets out of sight: a dict on an instance, filled by a decorator, is not looked into"
    ),
    "dynamic_exec": ("said where the module is given to `exec`"),
    "generators_send": ("said where the function is sent"),
    "returns_self": (
        "a method that rebinds an attribute leaves the value it had among the possible ones: a false alarm"
    ),
}
