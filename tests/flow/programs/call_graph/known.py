"""What driftwatch does not say yet of the programs of this folder, and why. A test holds that it is still so."""

from __future__ import annotations

from collections.abc import Mapping

KNOWN: Mapping[str, str] = {
    "decorators_a_class_that_registers": (
        "said where the function gets out of sight: a dict on an instance, filled by a decorator, is not looked into"
    ),
    "decorators_on_a_class": ("said where the function gets out of sight: a decorator that adds to its class"),
    "dynamic_exec": ("said where the module is given to `exec`"),
    "dynamic_globals": ("`globals()` is not followed, and not said for what is read from it"),
    "dynamic_class_by_type": ("a class made by `type` is not known"),
    "external_wraps": ("said to be unknown at the line"),
    "external_context_manager": ("said where the function gets out of sight: `nullcontext` is not known"),
    "functions_attributes": ("said where it is set: attributes of functions are not kept"),
    "generators_send": ("said where the function is sent"),
    "imports_one_module_object": ("an attribute set on a module under another name is not seen under the first"),
    "mro_super_goes_to_the_sibling": (
        "`super()` goes by the class it is written in, not by the class of the instance: a false alarm"
    ),
    "returns_self": (
        "a method that rebinds an attribute leaves the value it had among the possible ones: a false alarm"
    ),
}
