"""Everything the interpreter knows that is not a program state: the library, the code base, what was learnt so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from driftwatch.flow.domain.budget import RESERVE, Allowance
from driftwatch.flow.domain.code import ClassCode, ModuleCode
from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.dependencies import Dependencies
from driftwatch.flow.domain.frames import Frame
from driftwatch.flow.domain.identities import Identities
from driftwatch.flow.domain.recorder import Recorder
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.target import Target
from driftwatch.flow.domain.values import MethodOf, Value
from driftwatch.flow.interpreter.entries import Entries
from driftwatch.flow.interpreter.modules import Modules
from driftwatch.flow.interpreter.objects import Objects
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.shared import Shared
from driftwatch.flow.sources.files import Files
from driftwatch.flow.sources.loading import Loading
from driftwatch.flow.syntax.syntax import Tree
from driftwatch.snapshot.model.history import History


@dataclass(frozen=True, slots=True)
class Semantics:
    """What syntax does. The parts of the interpreter, which need each other, reach each other through it."""

    evaluate: Callable[[Run, cst.CSTNode, bool], Value]
    branch: Callable[[Run, cst.BaseExpression], tuple[State, State]]
    execute: Callable[[Run, cst.CSTNode], None]
    call: Callable[[Run, Value, Arguments, cst.CSTNode], Value]
    model: Callable[[Run, str, Arguments, cst.CSTNode], Value]
    """Call a builtin or an object of another package, by its import path."""
    method: Callable[[Run, MethodOf, Arguments, cst.CSTNode], Value]
    """Call a method of a container, a signature or another object of Python's own."""


class World:
    """One library and one code base; `among` is with how many libraries it shares the work of a run."""

    def __init__(self, history: History, files: Files, semantics: Semantics, among: int = 1) -> None:
        self.history = history
        self.semantics = semantics
        self.target = Target(history)
        self.all_releases = history.timeline.all
        self.recorder = Recorder()
        self.allowance = Allowance(RESERVE // among)
        self.replaces = False
        """Something of the library's has been replaced by something of the code base's."""
        self.shared: dict[int, Shared] = {}
        self.homes: dict[int, ModuleCode | ClassCode] = {}
        """The modules in whose variables containers and instances are kept."""
        self.put_off: dict[cst.CSTNode, Tree] = {}
        """Calls that are made elsewhere than they are written, with what stands in them."""
        self.objects = Objects()
        self.identities = Identities()
        body = cst.ClassDef(cst.Name("SimpleNamespace"), cst.IndentedBlock([]))
        self.namespace = ClassCode(ModuleCode("", ""), Tree("", 0, cst.Module([])), body, "SimpleNamespace")
        """The class of all `types.SimpleNamespace`."""
        self.dependencies = Dependencies()
        self.no_frame = Frame(ModuleCode("", ""), Tree("", 0, cst.Module([])))
        self.modules = Modules(self, files)
        self.loading = Loading(history, files)
        self.entries = Entries(self, self.modules)
