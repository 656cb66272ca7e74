"""Runs in a process of its own: imports a release and writes down what is there.

    python inspector.py FOLDER OUTPUT LIBRARY...   (the modules to import and the names to ask for, as JSON, on stdin)

It knows nothing of driftwatch and uses the standard library alone. `LIBRARY` are shared libraries to load first.
"""

# ruff: noqa: BLE001

import ctypes
import enum
import importlib
import inspect
import json
import sys
import types
import warnings
from pathlib import Path

ABSENT = object()


def parameters(callable_, skip=0):
    """[name, kind, has a default] for each parameter, or None where Python itself cannot tell."""
    try:
        found = list(inspect.signature(callable_).parameters.values())
    except (ValueError, TypeError):
        return None
    if found and found[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        found = found[skip:]  # ``def method(*args)`` takes its own instance as one of them
    return [[p.name, p.kind.description, p.default is not p.empty] for p in found]


def taken(callable_, skip=0):
    """The parameters of the function inside, where code has set what is shown of the one outside."""
    inside, shown = callable_, False
    while is_wrapper(inside):
        shown = shown or any(
            "__signature__" in getattr(each, "__dict__", ()) for each in (inside, *type(inside).__mro__)
        )
        inside = inside.__wrapped__
    return {"takes": parameters(inside, skip)} if shown else {}


def describe(value, top):
    if isinstance(value, types.ModuleType):
        return {"kind": "module", "module": value.__name__}
    if inspect.isclass(value):
        return describe_class(value, top)
    if inspect.isroutine(value) or is_wrapper(value):
        module = getattr(value, "__module__", None)
        return {"kind": "function", "module": module, "parameters": parameters(value), **taken(value)}
    return {"kind": "attribute", "module": None, "value": plain(value)}


def is_wrapper(value):
    """Whether it says which function it stands for; some objects answer for any name, or fail when they are asked."""
    return any("__wrapped__" in getattr(base, "__dict__", ()) for base in (value, *type(value).__mro__))


def plain(value):
    """A constant that JSON and Python literals both can hold; None for everything else."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value) if not isinstance(value, enum.Enum) else None
    return None


def describe_class(cls, top):
    module = getattr(cls, "__module__", "") or ""
    if module.partition(".")[0] != top:
        return {"kind": "class", "module": module}
    if getattr(cls.__init__, "__name__", "") in ("_no_init_or_replace_init", "_no_init"):
        own = None  # cannot be called at all; what Python shows is a placeholder
    else:
        own = parameters(cls)
    members = {}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] == top:
            members.update((name, describe_member(cls, name, value)) for name, value in vars(base).items())
    found = {
        "kind": "class",
        "module": module,
        "own": sorted(vars(cls)),
        "qualname": cls.__qualname__,
        "parameters": own,
        "members": members,
    }
    if hasattr(cls, "__deprecated__"):
        # The mark replaces the constructor by one that takes anything and hands it on.
        found["takes"] = parameters(cls.__init__, skip=1) if "__init__" in vars(cls) else None
    if issubclass(cls, enum.Enum):
        found["enum"] = {name: plain(member.value) for name, member in cls.__members__.items()}
    found["abstract"] = sorted(getattr(cls, "__abstractmethods__", ()))
    return found


def describe_member(cls, name, value):
    if isinstance(value, staticmethod):
        return {"kind": "function", "binding": "static", "parameters": parameters(value.__func__)}
    if isinstance(value, classmethod):
        return {"kind": "function", "binding": "class", "parameters": parameters(value.__func__, skip=1)}
    if isinstance(value, property) or type(value).__name__ == "cached_property":
        return {"kind": "property"}
    if inspect.isclass(value):
        return {"kind": "class"}
    if inspect.isfunction(value) or is_wrapper(value):
        found = parameters(value, skip=1)
        return {"kind": "function", "binding": "instance", "parameters": found, **taken(value, skip=1)}
    return {"kind": "attribute", "value": plain(value)}


def look(module, names, top):
    found = {}
    for name in sorted({*vars(module), *names}):
        if name.startswith("__") and name.endswith("__"):
            continue
        try:
            value = getattr(module, name, ABSENT)
        except Exception as error:
            found[name] = {"kind": "error", "error": f"{type(error).__name__}: {error}"}
            continue
        if value is not ABSENT:
            try:
                found[name] = describe(value, top)
            except Exception as error:
                found[name] = {"kind": "error", "error": f"{type(error).__name__}: {error}"}
    return found


def main():
    folder, output, *libraries = sys.argv[1:]
    warnings.simplefilter("ignore")
    for library in libraries:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    sys.path.insert(0, folder)
    asked = json.load(sys.stdin)
    top = next(iter(asked)).partition(".")[0]
    report = {}
    for module, names in asked.items():
        try:
            imported = importlib.import_module(module)
        except BaseException as error:
            report[module] = {"error": f"{type(error).__name__}: {error}"[:300]}
            continue
        if not isinstance(imported, types.ModuleType):
            imported = sys.modules[module]
        report[module] = {"names": look(imported, names, top)}
    Path(output).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
