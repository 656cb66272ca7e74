"""Calls that look at what they are given and do nothing with it: they keep none of it and call none of it."""

from __future__ import annotations

import libcst as cst

_LOOKING = frozenset(
    {
        "builtins.ascii", "builtins.callable", "builtins.delattr", "builtins.format", "builtins.hasattr",
        "builtins.hash", "builtins.help", "builtins.id", "builtins.input", "builtins.isinstance", "builtins.issubclass",
        "builtins.len", "builtins.print", "builtins.repr", "builtins.str", "builtins.type", "gc.is_tracked",
        "importlib.reload", "json.dump", "json.dumps", "pprint.pformat", "pprint.pp", "pprint.pprint", "reprlib.repr",
        "sys.getrefcount", "sys.getsizeof", "traceback.print_exception", "typing.get_args", "typing.get_origin",
        "typing.get_type_hints", "typing.reveal_type", "typing_extensions.get_type_hints", "warnings.warn",
    }
)  # fmt: skip

_LOOKING_PACKAGES = ("logging.", "inspect.is", "inspect.get", "dis.", "dataclasses.is_", "dataclasses.fields")

_SAYING = frozenset(
    {"critical", "debug", "error", "exception", "fatal", "info", "log", "print", "success", "trace", "warn", "warning"}
)
"""Methods of a logger, whatever makes it."""


EXPECTING_METHODS = frozenset({"assertRaises", "assertRaisesRegex"})
"""Methods of a ``unittest.TestCase`` that expect an exception."""

DECORATOR_MAKERS = frozenset({"functools.wraps"})
"""Functions that only read what they are given."""


def only_looks(dotted: str) -> bool:
    """Whether a function of Python or of another package only looks at its arguments."""
    return dotted in _LOOKING or dotted.startswith(_LOOKING_PACKAGES)


def only_says(node: cst.CSTNode) -> bool:
    """Whether a call, as it is written, is one of a method that only says something."""
    return type(node) is cst.Call and type(node.func) is cst.Attribute and says(node.func.attr.value)


def says(method: str) -> bool:
    """Whether a method of this name says something in a log, or compares in a test."""
    if method.startswith("assert"):
        return not method.startswith(("assertRaises", "assertWarns"))
    return method.removesuffix("_once") in _SAYING
