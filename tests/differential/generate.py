"""Small guarded programs over the shapes that real code uses, generated from what differs between a library's releases.

Enters: a `random.Random` (a seeded one, or one that hypothesis controls and shrinks) and a menu. Leaves: a program of
several functions that do not depend on each other, so that what one raises hides nothing of the next.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from driftwatch.releases import EMPTY
from driftwatch.snapshot.model import ParameterKind, Signature
from tests.differential.menu import BY_POSITION, VARIABLE, Callee, Menu
from tests.differential.programs import Call, Program, Value

Lines = list[str]
LITERALS = ("1", "None", "'x'", "True", "0.5", "(1, 2)")


def indent(lines: Sequence[str]) -> Lines:
    return ["    " + line for line in lines]


@dataclass
class File:
    """A source file as it grows: imports it needs, module-level code, and definitions."""

    imports: dict[str, None] = field(default_factory=dict)
    top: Lines = field(default_factory=list)
    body: Lines = field(default_factory=list)

    def text(self) -> str:
        parts = [list(self.imports), self.top, self.body]
        return "\n".join(line for part in parts if part for line in [*part, ""]).rstrip() + "\n"


@dataclass(frozen=True)
class Target:
    """What a function of the program is about: a callable of the library, the way to name it, and a parameter."""

    callee: Callee
    expression: str
    setup: tuple[str, ...]
    parameter: str | None
    guard: str | None = None
    """A condition under which the expression is no None."""


@dataclass(frozen=True)
class Passed:
    """The arguments of a call."""

    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]

    def without(self, *names: str) -> Passed:
        return Passed(self.positional, tuple(k for k in self.keywords if k[0] not in names))

    def __str__(self) -> str:
        return ", ".join([*self.positional, *(f"{name}={value}" for name, value in self.keywords)])


def generate(rng: random.Random, menu: Menu, name: str, functions: int = 4) -> Program:
    """A program whose files are called after `name`."""
    return Generator(rng, menu, name).program(functions)


class Generator:
    def __init__(self, rng: random.Random, menu: Menu, name: str) -> None:
        self.rng = rng
        self.menu = menu
        self.name = name
        self.main = File()
        self.helper = File()
        self.file = self.main
        self.count = 0
        self.unknown: list[str] | None = [] if self.chance(25) else None
        self.alias = {id(self.main): self._alias(), id(self.helper): "comm"}
        self.helper.imports[f"import {menu.module} as comm"] = None

    def program(self, functions: int) -> Program:
        calls = [self._function(number) for number in range(1, functions + 1)]
        files = {f"{self.name}.py": self.main.text()}
        if self.helper.top or self.helper.body:
            files[f"{self.name}_helper.py"] = self.helper.text()
        return Program(files, self.name, tuple(calls))

    # -- small choices -------------------------------------------------------------------------------------------

    def chance(self, percent: int) -> bool:
        return self.rng.randint(0, 99) >= 100 - percent

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def need(self, line: str) -> None:
        self.file.imports[line] = None

    @property
    def comm(self) -> str:
        return self.alias[id(self.file)]

    def _alias(self) -> str:
        """How the main file calls the library's module."""
        module = self.menu.module
        parent, _, last = module.rpartition(".")
        form = self.rng.randint(0, 5)
        if form == 1 and parent:
            self.main.imports[f"from {parent} import {last}"] = None
            return last
        if form == 2:
            self.main.imports["import importlib"] = None
            self.main.top.append(f'_lib = importlib.import_module("{module}")')
            return "_lib"
        if form == 3:
            self.main.top += ["_lib = None", "try:", f"    import {module} as _found", "    _lib = _found"]
            self.main.top += ["except ImportError:", "    pass"]
            return "_lib"
        if form == 4:
            self.main.top += ["try:", f"    import {module} as comm", "except Exception:", "    comm = None"]
            return "comm"
        if form == 5:
            self.main.imports[f"import {module}"] = None
            return module
        self.main.imports[f"import {module} as comm"] = None
        return "comm"

    # -- functions -----------------------------------------------------------------------------------------------

    def _function(self, number: int) -> Call:
        self.file = self.main
        if self.unknown is not None:
            self.unknown = []
        body = self.rng.choice(
            [
                self._about_call,
                self._about_call,
                self._about_call,
                self._about_name,
                self._about_instance,
                self._about_class,
            ]
        )()
        parameters: dict[str, tuple[Value, ...]] = dict.fromkeys(self.unknown or (), (False, True))
        self.main.body += [f"def t{number}({', '.join(parameters)}):", *indent(body), "", ""]
        return Call(f"t{number}", parameters)

    def _about_call(self) -> Lines:
        target = self._target(self.rng.choice(self.menu.functions))
        return self._around(target, lambda: self._call(target), 2)

    def _about_class(self) -> Lines:
        if self.menu.members and self.chance(40):
            cls, name = self.rng.choice(self.menu.members)
            target = self._target(Callee(cls, (Signature(),), (), EMPTY), parameter=False)
            member = f"{target.expression}.{name}"
            if self.chance(30):
                test = f'hasattr({target.expression}, "{name}")'
                return [*target.setup, *self._none_guard(target), *self._if(test, [f"return {member}"])]
            return self._around(target, lambda: [f"return {member}"], 1)
        if not self.menu.constructors:
            return self._about_call()
        target = self._target(self.rng.choice(self.menu.constructors))
        return self._around(target, lambda: self._call(target), 1)

    def _about_instance(self) -> Lines:
        if not self.menu.makers:
            return self._about_call()
        maker = self.rng.choice(self.menu.makers)
        target = self._target(maker.function, parameter=False)
        method = self.rng.choice(maker.methods)
        made = self.fresh("ws")
        safe = self._passed(target, sparse=True)
        lines = [*target.setup, *self._none_guard(target), f"{made} = {target.expression}({safe})"]
        on = Target(method, f"{made}.{method.name}", (), self.rng.choice(method.drifting) if method.drifting else None)
        choice = self.rng.randint(0, 4)
        if choice == 1:
            return [*lines, *self._if(f'hasattr({made}, "{method.name}")', self._call(on))]
        if choice == 2:
            found = self.fresh("m")
            got = Target(method, found, (), on.parameter)
            return [
                *lines,
                f'{found} = getattr({made}, "{method.name}", None)',
                *self._if(f"{found} is not None", self._call(got)),
            ]
        if choice == 3 and maker.names:
            return [*lines, f"return {made}.{self.rng.choice(maker.names)}"]
        if choice == 4:
            return [*lines, *self._try(self._call(on), 0)]
        return [*lines, *self._call(on)]

    def _about_name(self) -> Lines:
        """A name that some releases lack, imported or read."""
        ref = self.rng.choice(self.menu.names)
        name, module = ref.qualname, ref.module
        form = self.rng.randint(0, 9)
        if form == 0:
            return [f"from {module} import {name}", f"return {name}"]
        if form == 1:
            return ["try:", f"    from {module} import {name}", *self._except_import(), f"return {name}"]
        if form == 2:
            return [f"import {module} as found", f"return found.{name}"]
        if form == 3:
            self.need("import importlib")
            return [f'return importlib.import_module("{module}").{name}']
        if form == 4:
            flag = self.fresh("_HAS")
            self.file.top += ["try:", f"    from {module} import {name} as _{name}", f"    {flag} = True"]
            self.file.top += ["except ImportError:", f"    {flag} = False"]
            return self._if(flag, [f"return _{name}"])
        if form == 5 and self.menu.modules:
            missing = self.rng.choice(self.menu.modules)
            return [f"import {missing}", "return None"]
        if form == 6 and self.menu.modules:
            missing = self.rng.choice(self.menu.modules)
            self.need("import importlib.util")
            test = f'importlib.util.find_spec("{missing}") is not None'
            return self._if(test, [f"import {missing} as part", "return part"])
        if module == self.menu.module:
            if form == 7:
                return self._if(f'hasattr({self.comm}, "{name}")', [f"return {self.comm}.{name}"])
            if form == 8:
                return [f'return getattr({self.comm}, "{name}")']
            return self._try([f"return {self.comm}.{name}"], 0)
        return [f"from {module} import {name} as found", "return found"]

    def _except_import(self) -> Lines:
        clause = self.rng.choice(
            ["except ImportError:", "except Exception:", "except (ImportError, AttributeError):", "except:"]
        )
        return [
            clause,
            self.rng.choice(["    return None", "    raise", "    raise RuntimeError('no')", "    return 0"]),
        ]

    # -- targets -------------------------------------------------------------------------------------------------

    def _target(self, callee: Callee, parameter: bool = True) -> Target:
        ref = callee.ref
        name = ref.qualname
        drifting = self.rng.choice(callee.drifting) if parameter and callee.drifting else None

        def made(expression: str, *setup: str, guard: str | None = None) -> Target:
            return Target(callee, expression, setup, drifting, guard)

        form = self.rng.randint(0, 11)
        if form == 1:
            return made(name, f"from {ref.module} import {name}")
        if form == 2:
            return made("found", f"from {ref.module} import {name} as found")
        if form == 3:
            self.need("import importlib")
            return made(f'importlib.import_module("{ref.module}").{name}')
        if form == 4:
            bound = self.fresh("_got")
            clause = self.rng.choice(["ImportError", "Exception", "(ImportError, AttributeError)"])
            self.file.top += ["try:", f"    from {ref.module} import {name} as {bound}"]
            self.file.top += [f"except {clause}:", f"    {bound} = None"]
            return made(bound, guard=f"{bound} is not None")
        if form == 5 and self.file is self.main:
            bound = self.fresh("got")
            self.helper.top += ["try:", f"    from {ref.module} import {name} as {bound}"]
            self.helper.top += ["except ImportError:", f"    {bound} = None"]
            self.need(f"from {self.name}_helper import {bound}")
            return made(bound, guard=f"{bound} is not None")
        if ref.module != self.menu.module:
            if form % 2:
                return made(f"part.{name}", f"import {ref.module} as part")
            return made("found", f"from {ref.module} import {name} as found")
        if form == 6:
            return made("fn", f"fn = {self.comm}.{name}")
        if form == 7:
            return made("fn", f'fn = getattr({self.comm}, "{name}")')
        if form == 8:
            return made("fn", f'fn = getattr({self.comm}, "{name}", None)', guard="fn is not None")
        return made(f"{self.comm}.{name}")

    def _none_guard(self, target: Target) -> Lines:
        if target.guard is None:
            return []
        name = target.guard.partition(" ")[0]
        return self.rng.choice(
            [
                [f"if {name} is None:", "    return None"],
                [f"if not {name}:", "    return None"],
                [f"assert {name} is not None"],
                [f"if {name} is None:", "    raise RuntimeError('absent')"],
            ]
        )

    def _passed(self, target: Target, sparse: bool = False) -> Passed:
        """Arguments that fit one of the signatures, mostly."""
        rng = self.rng
        signature = rng.choice(target.callee.signatures)
        parameters = [p for p in signature.parameters if p.kind not in VARIABLE]
        chosen = [p for p in parameters if p.required and not (self.chance(6) and not sparse)]
        optional = [p for p in parameters if not p.required]
        if optional and not sparse:
            chosen += rng.sample(optional, rng.randint(0, min(2, len(optional))))
        names = {p.name for p in chosen}
        by_position = 0
        if self.chance(30):
            leading = [p for p in parameters if p.kind in BY_POSITION]
            by_position = rng.randint(0, len(leading))
        only = sum(p.kind is ParameterKind.POSITIONAL_ONLY for p in parameters)
        positional = parameters[: max(by_position, only)]
        positional = [p for p in positional if p.kind in BY_POSITION]
        taken = {p.name for p in positional}
        keywords = {p.name: rng.choice(LITERALS) for p in parameters if p.name in names - taken}
        if target.parameter and not sparse and target.parameter not in taken and self.chance(70):
            keywords[target.parameter] = rng.choice(LITERALS)
        if self.chance(2) and not sparse:
            keywords["nope"] = "1"
        return Passed(tuple(rng.choice(LITERALS) for _ in positional), tuple(keywords.items()))

    # -- conditions ----------------------------------------------------------------------------------------------

    def _atom(self, target: Target) -> str:
        """A condition that the snapshots answer, mostly one that has to do with the target."""
        ref = target.callee.ref
        on_module = ref.module == self.menu.module and "." not in ref.qualname
        form = self.rng.randint(0, 9)
        if form <= 1 and on_module:
            return f'hasattr({self.comm}, "{ref.qualname}")'
        if form == 2 and on_module:
            return f'getattr({self.comm}, "{ref.qualname}", None) is not None'
        if form <= 5 and on_module and target.parameter:
            self.need("import inspect")
            probe = f'"{target.parameter}" in inspect.signature({self.comm}.{ref.qualname}).parameters'
            if self.chance(60):
                return f'hasattr({self.comm}, "{ref.qualname}") and {probe}'
            return probe
        return self._version()

    def _version(self) -> str:
        top, distribution = self.menu.top, self.menu.distribution
        release = self.rng.choice(self.menu.releases)
        operator = self.rng.choice([">=", ">=", "<", ">", "<=", "==", "!="])
        numbers = release.partition(".post")[0]
        form = self.rng.randint(0, 6)
        if form == 1:
            self.need("import importlib.metadata")
            self.need("from packaging import version")
            installed = f'version.parse(importlib.metadata.version("{distribution}"))'
            return f'{installed} {operator} version.parse("{release}")'
        if form == 2:
            self.need(f"import {top}")
            operator = self.rng.choice([">=", "<", ">", "<="])
            return f"tuple(int(p) for p in {top}.__version__.split('.')[:3]) {operator} ({numbers.replace('.', ', ')})"
        if form == 3:
            self.need(f"from {top} import __version__ as _installed")
            self.need("from packaging.version import parse")
            return f'parse(_installed) {operator} parse("{release}")'
        if form == 4:
            self.need(f"import {top}")
            self.need("from packaging.version import Version")
            return f"Version({top}.__version__).release {operator} ({numbers.replace('.', ', ')})"
        if form == 5:
            self.need("from importlib.metadata import version as _version_of")
            self.need("from packaging.version import Version")
            return f'Version(_version_of("{distribution}")) {operator} Version("{release}")'
        self.need(f"import {top}")
        self.need("from packaging.version import Version")
        return f'Version({top}.__version__) {operator} Version("{release}")'

    def condition(self, target: Target, depth: int = 1) -> str:
        form = self.rng.randint(0, 13)
        if form <= 4 or depth == 0:
            return self._atom(target)
        if form == 5:
            return f"not ({self.condition(target, depth - 1)})"
        if form == 6:
            return f"({self.condition(target, depth - 1)}) and ({self.condition(target, depth - 1)})"
        if form == 7:
            return f"({self.condition(target, depth - 1)}) or ({self.condition(target, depth - 1)})"
        if form == 8 and self.unknown is not None:
            if not self.unknown or (len(self.unknown) < 3 and self.chance(40)):
                self.unknown.append(self.fresh("maybe"))
            return self.rng.choice(self.unknown)
        if form == 9 and self.file is self.main:
            return self._in_helper(target)
        if form == 10:
            return self._parameter_set(target)
        if form == 11:
            return self._cached(target)
        return self._flag(target)

    def _flag(self, target: Target) -> str:
        """A module-level variable; what its probe may raise is caught, so that the module is always imported."""
        flag = self.fresh("_FLAG")
        if self.chance(50):
            self.file.top += ["try:", f"    {flag} = {self._atom(target)}"]
            self.file.top += ["except AttributeError:", f"    {flag} = False"]
        else:
            self.file.top += [f"{flag} = {self._version()}"]
        return flag

    def _cached(self, target: Target) -> str:
        name = self.fresh("_has")
        if self.chance(50):
            self.need("import functools")
            self.file.top.append(self.rng.choice(["@functools.cache", "@functools.lru_cache(maxsize=None)"]))
        form = self.rng.randint(0, 2)
        if form == 0:
            body = [f"return {self._atom(target)}"]
        elif form == 1:
            body = [f"if {self._atom(target)}:", "    return True", "return False"]
        else:
            body = ["try:", f"    return {self._atom(target)}", "except Exception:", "    return False"]
        self.file.top += [f"def {name}():", *indent(body)]
        return f"{name}()"

    def _in_helper(self, target: Target) -> str:
        name = self.fresh("has_it")
        self.file = self.helper
        self.helper.top += [f"def {name}():", f"    return {self._atom(target)}"]
        self.file = self.main
        if self.chance(50):
            self.need(f"from {self.name}_helper import {name}")
            return f"{name}()"
        self.need(f"import {self.name}_helper")
        return f"{self.name}_helper.{name}()"

    def _parameter_set(self, target: Target) -> str:
        ref = target.callee.ref
        if ref.module != self.menu.module or "." in ref.qualname or not target.parameter:
            return self._atom(target)
        self.need("import inspect")
        name = self.fresh("_TAKES")
        signature = f"inspect.signature({self.comm}.{ref.qualname}).parameters"
        form = self.rng.choice(["{}", "set({})", "frozenset({})", "{}.keys()", "list({})", "tuple({}.keys())"])
        self.file.top += [
            "try:",
            f"    {name} = {form.format(signature)}",
            "except AttributeError:",
            f"    {name} = ()",
        ]
        return f'"{target.parameter}" in {name}'

    # -- statements ----------------------------------------------------------------------------------------------

    def _if(self, test: str, use: Lines) -> Lines:
        form = self.rng.randint(0, 4)
        if form == 1:
            return [f"if not ({test}):", "    return None", *use]
        if form == 2:
            return [f"assert {test}", *use]
        if form == 3:
            return [f"if {test}:", *indent(use), "else:", "    return 0"]
        if form == 4:
            return [f"if not ({test}):", "    raise RuntimeError('not there')", *use]
        return [f"if {test}:", *indent(use), "return None"]

    def _around(self, target: Target, use: Callable[[], Lines], depth: int) -> Lines:
        lines = [*target.setup]
        guard = self._none_guard(target)
        inner = self._wrapped(target, use, depth)
        form = self.rng.randint(0, 9)
        if form == 0 and target.setup:
            return self._try([*lines, *guard, *inner], 0)
        return [*lines, *guard, *inner]

    def _wrapped(self, target: Target, use: Callable[[], Lines], depth: int) -> Lines:
        if depth == 0:
            return use()
        form = self.rng.randint(0, 11)
        if form <= 1:
            return use()
        if form <= 5:
            return self._if(self.condition(target, 2), self._wrapped(target, use, depth - 1))
        if form == 6:
            test = self.condition(target)
            return [f"if {test}:", *indent(self._wrapped(target, use, depth - 1)), "else:", *indent(use())]
        if form <= 9:
            return self._try(self._wrapped(target, use, depth - 1), depth)
        if form == 10:
            return ["for _ in range(2):", *indent(use()), "return None"]
        flag = self.fresh("ok")
        return [f"{flag} = {self.condition(target)}", *self._if(flag, use())]

    def _try(self, use: Lines, depth: int) -> Lines:
        form = self.rng.randint(0, 10)
        if form == 0:
            self.need("import contextlib")
            kind = self.rng.choice(
                ["TypeError", "Exception", "AttributeError", "ImportError", "TypeError, AttributeError"]
            )
            return [f"with contextlib.suppress({kind}):", *indent(use), "return None"]
        if form == 1:
            return ["try:", *indent(use), "finally:", "    len('x')"]
        clause = self.rng.choice(
            [
                "except TypeError:",
                "except Exception:",
                "except:",
                "except AttributeError:",
                "except ImportError:",
                "except (TypeError, AttributeError):",
                "except Exception as error:",
                "except ValueError:",
                "except BaseException:",
            ]
        )
        body = self.rng.choice(
            [["return None"], ["pass"], ["print"], ["return len('x')"], ["raise"], ["raise RuntimeError('failed')"]]
        )
        if "as error" in clause and self.chance(50):
            body = self.rng.choice(
                [["raise RuntimeError('failed') from error"], ["str(error)", "return 0"], ["raise error"]]
            )
        lines = ["try:", *indent(use), clause, *indent(body)]
        if form == 2:
            lines += ["finally:", "    len('x')"]
        if form == 3:
            lines = ["try:", *indent(use), "except ValueError:", "    return 7", clause, *indent(body)]
        return lines

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, target: Target) -> Lines:
        """One call of the target, in one of the forms people write."""
        passed = self._passed(target)
        f = target.expression
        forms: list[Callable[[str, Passed, Target], Lines]] = [
            self._direct,
            self._direct,
            self._alias_call,
            self._dictionary,
            self._dictionary,
            self._dictionary,
            self._partial,
            self._local_wrapper,
            self._star,
            self._lambda,
            self._conditional,
        ]
        ref = target.callee.ref
        if f == f"{self.comm}.{ref.qualname}":
            forms += [self._module_wrapper, self._module_wrapper, self._helper_wrapper, self._attribute]
        return self.rng.choice(forms)(f, passed, target)

    def _direct(self, f: str, passed: Passed, target: Target) -> Lines:
        return [self.rng.choice([f"return {f}({passed})", f"result = {f}({passed})"])]

    def _alias_call(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("call")
        return [f"{name} = {f}", f"return {name}({passed})"]

    def _lambda(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("later")
        if self.chance(50):
            return [f"{name} = lambda: {f}({passed})", f"return {name}()"]
        return (
            [f"{name} = lambda **kw: {f}(**kw)", f"return {name}({passed.without()})"]
            if not passed.positional
            else [
                f"{name} = lambda *a, **kw: {f}(*a, **kw)",
                f"return {name}({passed})",
            ]
        )

    def _conditional(self, f: str, passed: Passed, target: Target) -> Lines:
        test = self.condition(target)
        form = self.rng.randint(0, 2)
        if form == 0:
            return [f"return {f}({passed}) if {test} else None"]
        if form == 1:
            return [f"return ({test}) and {f}({passed})"]
        return [f"return not ({test}) or {f}({passed})"]

    def _partial(self, f: str, passed: Passed, target: Target) -> Lines:
        self.need("import functools")
        name = self.fresh("part")
        first = [k for k in passed.keywords if self.chance(50)]
        rest = [k for k in passed.keywords if k not in first]
        early = Passed(passed.positional, tuple(first))
        late = Passed((), tuple(rest))
        separator = ", " if str(early) else ""
        return [f"{name} = functools.partial({f}{separator}{early})", f"return {name}({late})"]

    def _star(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("args")
        values = ", ".join(passed.positional)
        comma = "," if len(passed.positional) == 1 else ""
        opened, closed = self.rng.choice([("(", f"{comma})"), ("[", "]")])
        keywords = Passed((), passed.keywords)
        separator = ", " if passed.keywords else ""
        lines = [f"{name} = {opened}{values}{closed}"]
        if opened == "[" and self.chance(30):
            lines.append(f"{name}.append(1)")
        return [*lines, f"return {f}(*{name}{separator}{keywords})"]

    def _local_wrapper(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("wrap")
        return [f"def {name}(*args, **kwargs):", f"    return {f}(*args, **kwargs)", f"return {name}({passed})"]

    def _module_wrapper(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("_wrap")
        self.file.top += self._wrapper(name, f, passed)
        return [f"return {name}({passed})"]

    def _helper_wrapper(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("wrap")
        if self.file is not self.main:
            return self._direct(f, passed, target)
        self.helper.top += self._wrapper(name, f"comm.{target.callee.ref.qualname}", passed)
        if self.chance(50):
            self.need(f"from {self.name}_helper import {name}")
            return [f"return {name}({passed})"]
        self.need(f"import {self.name}_helper as _helper")
        return [f"return _helper.{name}({passed})"]

    def _wrapper(self, name: str, f: str, passed: Passed) -> Lines:
        form = self.rng.randint(0, 2)
        if form == 0 and not passed.positional:
            return [f"def {name}(**kwargs):", f"    return {f}(**kwargs)"]
        if form == 1 and passed.positional:
            return [f"def {name}(first, *rest, **kwargs):", f"    return {f}(first, *rest, **kwargs)"]
        return [f"def {name}(*args, **kwargs):", f"    return {f}(*args, **kwargs)"]

    def _attribute(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("_Holder")
        form = self.rng.randint(0, 3)
        if form == 0:
            init, go = [f"self.fn = {f}"], [f"return self.fn({passed})"]
        elif form == 1:
            init, go = [f"self.lib = {self.comm}"], [f"return self.lib.{target.callee.ref.qualname}({passed})"]
        elif form == 2:
            keywords = Passed((), passed.keywords)
            separator = ", " if passed.positional else ""
            init = [f"self.options = dict({keywords})"]
            go = [f"return {f}({Passed(passed.positional, ())}{separator}**self.options)"]
        else:
            test = self._atom(target)
            init, go = [f"self.usable = {test}"], [f"return {f}({passed}) if self.usable else None"]
        lines = [f"class {name}:", "    def __init__(self):", *indent(indent(init))]
        self.file.top += [*lines, "    def go(self):", *indent(indent(go))]
        return [f"return {name}().go()"]

    # -- dictionaries --------------------------------------------------------------------------------------------

    def _dictionary(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("kw")
        later = target.parameter if target.parameter in dict(passed.keywords) and self.chance(75) else None
        start = passed.without(later) if later else passed
        value = dict(passed.keywords).get(later or "", "1")
        if self.chance(50):
            items = ", ".join(f'"{k}": {v}' for k, v in start.keywords)
            lines = [f"{name} = {{{items}}}"]
        else:
            lines = [f"{name} = dict({Passed((), start.keywords)})"]
        star = f"**{name}"
        if later:
            step, star = self._added(name, later, value, f, target)
            lines += step
        positional = "".join(f"{value}, " for value in passed.positional)
        if self.chance(15) and later:
            lines += self.rng.choice([[f'{name}.pop("{later}", None)'], [f'{name}.pop("absent", None)']])
        return [*lines, f"return {f}({positional}{star})"]

    def _added(self, name: str, key: str, value: str, f: str, target: Target) -> tuple[Lines, str]:
        """Statements that add a key to the dictionary, and how it is then passed."""
        star = f"**{name}"
        form = self.rng.randint(0, 9)
        if form <= 2:
            return self._maybe([f'{name}["{key}"] = {value}'], target), star
        if form == 3:
            return self._maybe([f"{name}.update({key}={value})"], target), star
        if form == 4:
            return self._maybe([f'{name}.update({{"{key}": {value}}})'], target), star
        if form == 5:
            return self._maybe([f'{name}.setdefault("{key}", {value})'], target), star
        if form == 6:
            return [], f'**{{**{name}, "{key}": {value}}}'
        if form == 7:
            return [f'{name} = {name} | {{"{key}": {value}}}'], star
        if form == 8 and target.callee.ref.module == self.menu.module and "." not in target.callee.ref.qualname:
            self.need("import inspect")
            known = f"{{k: v for k, v in {name}.items() if k in inspect.signature({f}).parameters}}"
            return [f'{name}["{key}"] = {value}', f"{name} = {known}"], star
        test = self.condition(target)
        return [f'{name}.update({{"{key}": {value}}} if {test} else {{}})'], star

    def _maybe(self, lines: Lines, target: Target) -> Lines:
        if self.chance(50):
            return [f"if {self.condition(target)}:", *indent(lines)]
        return lines
