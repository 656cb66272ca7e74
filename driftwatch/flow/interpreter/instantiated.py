"""Classes of which there is an instance only where the code base makes one: what a test for such a class answers.

Enters: a class, and the places in which it is called. Leaves: the releases in which one may meet an instance of it.
That is all of them, unless its name stands in its own file alone, and there in calls, annotations and tests alone.
"""

from __future__ import annotations

import re

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.domain.values import Class, Lazy
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import EMPTY, ReleaseSet


def note_instantiation(run: Run, atom: Class | Lazy) -> None:
    """A class is called: an instance of it is made."""
    module, name = _place(atom)
    before = module.made.get(name, EMPTY)
    if not run.state.reach <= before:
        module.made[name] = before | run.state.reach
        run.world.dependencies.change(module, _made(name))
        if module.made_in_sight.get(name):
            run.world.modules.written = True
            run.world.modules.stale.add(module)


def instantiated_in(run: Run, atom: Class | Lazy) -> ReleaseSet:
    """The releases in which there may be an instance of a class."""
    module, name = _place(atom)
    if module.executing or (isinstance(atom, Class) and atom.code.parent is not None):
        return run.world.all_releases
    if name not in module.made_in_sight:
        module.made_in_sight[name] = _is_in_sight(run, module, name)
    if not module.made_in_sight[name]:
        return run.world.all_releases
    run.world.dependencies.read(module, _made(name))
    return module.made.get(name, EMPTY)


def _place(atom: Class | Lazy) -> tuple[ModuleCode, str]:
    return (atom.code, atom.name) if isinstance(atom, Lazy) else (atom.code.module, atom.code.name)


def _made(name: str) -> str:
    """Stands for where instances of a class are made, as a place that may change."""
    return f"{name}()"


def _is_in_sight(run: Run, module: ModuleCode, name: str) -> bool:
    """Whether everything that makes an instance of a class is seen to do so."""
    modules = run.world.modules
    if not module.is_read:
        return False
    text = re.sub(rf"\bclass\s+{name}\b", "", "\n".join(module.lines))
    # A pattern that begins with plain text is searched for many times faster.
    calls = re.findall(rf"{name}\((?<![\w.]{name}\()", text)
    if not calls:
        return False
    harmless = rf"(?<!\w)isinstance\(\s*[\w.]+\s*,\s*{name}\s*\)|\w\s*:\s*{name}\b(?!\.)|->\s*{name}\b"
    if len(calls) + len(re.findall(harmless, text)) != len(re.findall(rf"{name}(?<!\w{name})\b", text)):
        return False
    if any(name in piece.mentions and piece.defines != name for piece in modules.passed_over(module)):
        return False
    return all(path == module.path for path in modules.files.importing(module, (name,)))
