"""Run inside the environment that `doctor` looks at, as text given to its Python; it imports nothing of driftwatch.

Enters: one JSON object on standard input, with a ``task`` and a ``mark``. Leaves: one JSON object a line on what was
standard output when it started, each with the mark, since others print there too, and each as soon as it is known, so
that a process that dies or hangs has told what it knew. What is raised or printed by an import is a fact, and no
failure.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any

_MULTICAST, _FABRIC, _MAJOR, _MINOR = 132, 128, 75, 76
"""Numbers of ``CUdevice_attribute``."""
_NAMED = 256
_VERSION_FILES = ("_build_meta.py", "version.py", "_version.py", "__init__.py")


# -- what is installed: nothing is imported --------------------------------------------------------------------------


def installed(asked: dict[str, Any]) -> dict[str, Any]:
    """Python, distributions, modules by name, and the files that look like a library and are another."""
    every: dict[str, list[dict[str, Any]]] = {}
    alike: list[list[str]] = []
    brought: list[str] = []
    providers: dict[str, list[str]] = {}
    seen: set[str] = set()
    for found in importlib.metadata.distributions():
        try:
            name, version = normal(found.metadata["Name"]), found.version
            folder = str(getattr(found, "_path", "") or found.locate_file(""))
            if folder in seen:
                continue
            seen.add(folder)
            wanted = name in asked["distributions"]
            every.setdefault(name, []).append(
                {
                    "name": name,
                    "version": version,
                    "folder": folder,
                    "requires": list(found.requires or ()) if wanted else [],
                    "requires_python": found.metadata["Requires-Python"] if wanted else None,
                }
            )
            record = found.read_text("RECORD") or ""
            top = (found.read_text("top_level.txt") or "").split()
        except Exception:  # noqa: BLE001, S112 - metadata that cannot be read says nothing
            continue
        for wanted_module in asked["modules"]:
            if wanted_module in top or f"\n{wanted_module}/" in f"\n{record}":
                providers.setdefault(wanted_module, []).append(name)
        alike += [[name, file] for file in imitations(record, asked["libraries"])]
        brought += [str(found.locate_file(path)) for path in named(record, asked["kernels"])]
    modules = {name: module(name, asked["payloads"].get(name)) for name in asked["modules"]}
    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": f"{platform.system()} {platform.machine()}",
        "markers": markers(),
        "installer": installer(),
        "installed": every,
        "modules": modules,
        "kernels": {
            "brought": sorted({*filter(os.path.isfile, brought), *kernels_below(modules.values(), asked["kernels"])}),
            "compiled": compiled(asked["kernels"], asked["caches"]),
        },
        "providers": providers,
        "look_alikes": alike,
    }


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imitations(record: str, libraries: list[str]) -> list[str]:
    """The shared libraries of a RECORD that begin like one of these and are not it."""
    result: list[str] = []
    for library in libraries:
        if library not in record:
            continue
        for line in record.split("\n"):
            path = line.partition(",")[0].strip('"')
            name = path.rpartition("/")[2]
            if (
                name.startswith(library)
                and ".so" in name
                and not re.fullmatch(rf"{library}(?:-[0-9a-fA-F]+)?\.so(?:\.\d+)*", name)
            ):
                result.append(path)
    return result


def named(record: str, kernels: list[str]) -> list[str]:
    """The paths of a RECORD that are a compiled kernel of one of these names."""
    ends = tuple(f"/{name}/{name}.so" for name in kernels)
    paths = [line.partition(",")[0].strip('"') for line in record.split("\n")] if ends and ".so" in record else []
    return [path for path in paths if path.endswith(ends)]


def kernels_below(modules: Any, kernels: list[str]) -> list[str]:
    """Compiled kernels in the folders of modules, whether or not a RECORD speaks of them."""
    found: list[str] = []
    for facts in modules:
        folder = Path(facts["folder"]) if facts["folder"] else None
        if folder is not None and folder.is_dir():
            found += [
                str(path)
                for name in kernels
                for depth in ("*", "*/*")
                for path in folder.glob(f"{depth}/{name}/{name}.so")
            ]
    return found


def compiled(kernels: list[str], caches: list[list[str]]) -> list[str]:
    """Kernels that were compiled before: below the folder that a variable names, or the home folder."""
    found: list[str] = []
    for variable, folder in caches:
        with contextlib.suppress(Exception):  # a user without a home folder has no cache
            base = Path(os.environ.get(variable) or Path.home()) / folder
            found += [str(path) for name in kernels for path in base.glob(f"**/{name}/{name}.so")]
    return sorted(set(found))


def markers() -> dict[str, str]:
    """The environment of PEP 508."""
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": ".".join(map(str, sys.implementation.version[:3])),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "platform_python_implementation": platform.python_implementation(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


def installer() -> list[str]:
    """The command that installs into this environment."""
    try:
        by_uv = "uv =" in (Path(sys.prefix) / "pyvenv.cfg").read_text(encoding="utf-8")
    except (OSError, ValueError):
        by_uv = False
    if by_uv and importlib.util.find_spec("pip") is None:
        return ["uv", "pip", "{}", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "{}"]


def module(name: str, payload: str | None = None) -> dict[str, Any]:
    """Where a top-level module is, what version its files state, and where else the path has one.

    `empty` says that the folder below it that holds what it is there for has no file.
    """
    facts: dict[str, Any] = {"name": name, "folder": None, "version": None, "bare": False, "copies": [], "empty": None}
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # noqa: BLE001 - a finder of the environment's own may fail in any way
        spec = None
    if spec is None:
        return facts
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    facts["bare"] = spec.origin is None and bool(folders)
    facts["folder"] = str(folders[0] if folders else spec.origin)
    for folder in folders[:1]:
        facts["version"] = stated(folder)
        if payload is not None:
            facts["empty"] = not any(path.is_file() for path in (folder / payload).rglob("*"))
    facts["copies"] = [
        str(Path(entry) / name)
        for entry in dict.fromkeys(sys.path)
        if (Path(entry) / name / "__init__.py").is_file() and str(Path(entry) / name) != facts["folder"]
    ]
    return facts


def stated(folder: Path) -> str | None:
    """The version in the first file that gives it as a constant; what an ``except`` falls back on comes last."""
    fallback: str | None = None
    for name in _VERSION_FILES:
        try:
            tree = ast.parse((folder / name).read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in tree.body:
            found = version_in([node])
            if found is not None:
                return found
            if isinstance(node, ast.Try) and fallback is None:
                fallback = version_in(node.body) or version_in([part for h in node.handlers for part in h.body])
    return fallback


def version_in(nodes: list[ast.stmt]) -> str | None:
    for node in nodes:
        names = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__version__" for target in names):
            value = getattr(node, "value", None)
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return None


# -- what the driver says --------------------------------------------------------------------------------------------


def driver() -> dict[str, Any]:
    """The GPUs by the driver's own library, which neither torch nor a tool has to be there for."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {"note": "the driver's library libcuda.so.1 cannot be loaded"}
    status = cuda.cuInit(0)
    if status:
        return {"note": f"the driver does not start: cuInit answers {status}"}
    number = ctypes.c_int()

    def asked(call: Any, *given: Any) -> int | None:
        return None if call(ctypes.byref(number), *given) else number.value

    version = asked(cuda.cuDriverGetVersion)
    facts: dict[str, Any] = {"cuda": f"{version // 1000}.{version % 1000 // 10}" if version else None}
    devices = range(asked(cuda.cuDeviceGetCount) or 0)
    facts["devices"] = []
    for index in devices:
        name = ctypes.create_string_buffer(_NAMED)
        cuda.cuDeviceGetName(name, _NAMED, index)
        major, minor = (asked(cuda.cuDeviceGetAttribute, each, index) for each in (_MAJOR, _MINOR))
        multicast = asked(cuda.cuDeviceGetAttribute, _MULTICAST, index)
        facts["devices"].append(
            {
                "index": str(index),
                "name": name.value.decode(errors="replace"),
                "capability": None if major is None else f"{major}.{minor}",
                "multicast": None if multicast is None else bool(multicast),
            }
        )
        fabric = asked(cuda.cuDeviceGetAttribute, _FABRIC, index)
        if fabric is not None:
            facts["fabric"] = bool(fabric) and facts.get("fabric", True)
    facts["peers"] = [
        [one, other, bool(reached)]
        for one in devices
        for other in devices
        if one != other and (reached := asked(cuda.cuDeviceCanAccessPeer, one, other)) is not None
    ]
    return facts


# -- what importing does ---------------------------------------------------------------------------------------------


def attempt(what: str, doing: Any) -> dict[str, Any]:
    """What doing something does, and how long it takes."""
    start = time.perf_counter()
    facts: dict[str, Any] = {"what": what, "error": None, "kind": None, "where": None}
    try:
        doing()
    except BaseException as problem:  # noqa: BLE001 - any exception at all is the answer
        text = str(problem).strip().splitlines()
        facts["kind"] = type(problem).__name__
        facts["error"] = f"{facts['kind']}: {text[0][:400] if text else ''}".rstrip(": ")
        frames = [each for each in traceback.extract_tb(problem.__traceback__) if Path(each.filename).is_absolute()]
        frames = [frame for frame in frames if "/importlib/" not in frame.filename]
        if frames:
            facts["where"] = f"{frames[-1].filename}:{frames[-1].lineno}"
    facts["seconds"] = round(time.perf_counter() - start, 2)
    return facts


def call(path: str) -> None:
    name, _, attribute = path.partition(":")
    getattr(importlib.import_module(name), attribute)()


def mapped(libraries: list[str]) -> list[str]:
    """The files that are mapped into this process and have one of these names in their path, in the order of memory."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = [line[line.index("/") :].strip() for line in lines if "/" in line]
    return list(dict.fromkeys(path for path in paths if any(name in path for name in libraries)))


def framework(torch: Any) -> dict[str, Any]:
    """What torch sees; what it does not say is not in the answer."""
    version = getattr(torch, "version", None)
    facts: dict[str, Any] = {
        "version": str(getattr(torch, "__version__", "")) or None,
        "cuda": getattr(version, "cuda", None),
        "hip": getattr(version, "hip", None),
        "built_for_cuda": bool(getattr(version, "cuda", None)) if hasattr(version, "cuda") else None,
    }
    try:
        facts["available"] = bool(torch.cuda.is_available())
        number = torch.cuda.device_count() if facts["available"] else 0
        facts["devices"] = [device(torch, index) for index in range(number)]
        facts["peers"] = [
            [one, other, bool(torch.cuda.can_device_access_peer(one, other))]
            for one in range(number)
            for other in range(number)
            if one != other
        ]
    except Exception as problem:  # noqa: BLE001 - a driver may fail in any way
        text = str(problem).strip().splitlines()
        facts["error"] = f"{type(problem).__name__}: {text[0] if text else ''}"
    return facts


def device(torch: Any, index: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"index": str(index), "name": "", "capability": None}
    with contextlib.suppress(Exception):  # what torch does not say is not known
        facts["name"] = str(torch.cuda.get_device_name(index))
    with contextlib.suppress(Exception):
        facts["capability"] = ".".join(map(str, torch.cuda.get_device_capability(index)))
    return facts


def trial(asked: dict[str, Any], say: Any) -> None:
    """Import in the order that is asked for, look at torch, and call what is to be called."""
    done: dict[str, Any] = {}
    for what in [*asked["after"], asked["module"]]:
        say({"begin": what})
        done = attempt(what, lambda what=what: importlib.import_module(what))
        say({"import": done})
    name = asked["framework"]
    if name is not None:
        say({"begin": name})
        found = attempt(name, lambda: importlib.import_module(name))
        said = {"framework_error": found["error"]} if found["error"] else {"framework": framework(sys.modules[name])}
        say(said)
    # Who calls has made tensors before.
    for path in asked["calls"] if done["error"] is None else ():
        say({"begin": path})
        say({"call": attempt(path, lambda path=path: call(path))})
    say({"mapped": mapped(asked["libraries"])})


def main() -> None:
    asked = json.loads(sys.stdin.read())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What an import prints goes elsewhere.
    os.dup2(2, 1)

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps({"mark": asked["mark"], **answer}) + "\n")
        answers.flush()

    if asked["task"] == "trial":
        trial(asked, say)
    else:
        say(installed(asked) if asked["task"] == "installed" else driver())
    # A library's own threads and exit handlers are not waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
