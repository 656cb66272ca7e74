"""What stands round a use in real code: test runners, types, classes of one's own, coroutines, packages."""

from __future__ import annotations

from tests.differential.calls import Calls
from tests.differential.drafting import LITERALS, Lines, Target, indent
from tests.differential.menu import BY_POSITION


class Surroundings(Calls):
    """Functions about a use in one of these."""

    def about_surroundings(self) -> Lines:
        """The body of one function of the program."""
        forms = [
            self._patched,
            self._patched,
            self._skipped,
            self._only_for_types,
            self._in_a_class,
            self._in_a_class,
            self._in_a_coroutine,
            self._in_a_package,
            self._in_a_package,
        ]
        if self.menu.makers:
            forms.append(self._overridden)
        return self.rng.choice(forms)()

    # -- test runners --------------------------------------------------------------------------------------------

    def _patched(self) -> Lines:
        """A name is replaced for a while."""
        shown = [r for r in self.menu.names if not any(f"{r.module}.".startswith(f"{h}.") for h in self.menu.hidden)]
        ref = self.rng.choice(shown)
        module, name = ref.module, ref.qualname
        option = self.rng.choice(["", "", ", create=True", ", create=False"])
        form = self.rng.randint(0, 3)
        if form == 3:
            self.need("import pytest")
            option = self.rng.choice(["", "", ", raising=False", ", raising=True"])
            target = f'"{module}.{name}"'
            if module == self.menu.module and self.chance(50):
                target = f'{self.comm}, "{name}"'
            lines = ["patch = pytest.MonkeyPatch()", f"patch.setattr({target}, 1{option})", "patch.undo()"]
        else:
            self.need("from unittest import mock")
            target = f'mock.patch("{module}.{name}"{option})'
            if form == 1 and module == self.menu.module:
                target = f'mock.patch.object({self.comm}, "{name}"{option})'
            lines = [f"with {target}:", "    len('x')"]
        if self.chance(30):
            clause = self.rng.choice(["except AttributeError:", "except Exception:", "except ValueError:"])
            return ["try:", *indent(lines), clause, "    return None"]
        return [*lines, "return None"]

    def _skipped(self) -> Lines:
        """A test that is skipped where a module is missing, or the package too old."""
        self.need("import pytest")
        if self.menu.modules and self.chance(60):
            module = self.rng.choice(self.menu.modules)
            inside = [r for r in self.menu.names if r.module == module]
            lines = [f'part = pytest.importorskip("{module}")']
            return [*lines, f"return part.{self.rng.choice(inside).qualname}"] if inside else lines
        release = self.rng.choice(self.menu.releases)
        inside = [r for r in self.menu.names if r.module == self.menu.module]
        if not inside:
            return [f'pytest.importorskip("{self.menu.module}")']
        path = f"{self.menu.module}.{self.rng.choice(inside).qualname}".partition(".")[2]
        return [f'top = pytest.importorskip("{self.menu.top}", minversion="{release}")', f"return top.{path}"]

    # -- types ---------------------------------------------------------------------------------------------------

    def _only_for_types(self) -> Lines:
        """What only a type checker imports is missing nowhere."""
        ref = self.rng.choice(self.menu.names)
        bound = self.fresh("_Type")
        self.need("from typing import TYPE_CHECKING")
        self.file.top += ["if TYPE_CHECKING:", f"    from {ref.module} import {ref.qualname} as {bound}"]
        name = self.fresh("_typed")
        other = self.rng.choice(self.menu.names)
        inner = [f"from {other.module} import {other.qualname} as found", "return found"]
        self.file.top += [f'def {name}(value: "{bound}" = None) -> "{bound} | None":', *indent(inner)]
        return [f"return {name}()"]

    # -- classes and coroutines ----------------------------------------------------------------------------------

    def _use(self) -> Lines:
        """A use of the library that needs nothing of the function it is in."""
        callees = [f for f in self.menu.functions if f.ref.module == self.menu.module]
        if callees and self.chance(70):
            callee = self.rng.choice(callees)
            parameter = self.rng.choice(callee.drifting) if callee.drifting else None
            passed = self._passed(Target(callee, "", (), parameter))
            call = f"return {self.comm}.{callee.ref.qualname}({passed})"
            if self.chance(40):
                return [f'if hasattr({self.comm}, "{callee.ref.qualname}"):', f"    {call}", "return None"]
            return [call]
        ref = self.rng.choice(self.menu.names)
        return [f"from {ref.module} import {ref.qualname} as found", "return found"]

    def _in_a_class(self) -> Lines:
        """A method of any kind, of a class or of one below it."""
        name = self.fresh("_Layer")
        kind = self.rng.choice(["static", "class", "plain", "property"])
        decorator = {"static": ["@staticmethod"], "class": ["@classmethod"], "property": ["@property"]}.get(kind, [])
        own = {"static": "", "class": "cls"}.get(kind, "self")
        body = self._use()
        if kind != "static" and self.chance(40):
            inner = [*decorator, f"def _inner({own}):", *indent(body)]
            called = "_inner" if kind == "property" else "_inner()"
            self.file.top += [f"class {name}:", *indent(inner)]
            self.file.top += indent([*decorator, f"def go({own}):", f"    return {own}.{called}"])
        else:
            self.file.top += [f"class {name}:", *indent([*decorator, f"def go({own}):", *indent(body)])]
        if self.chance(30):
            below = self.fresh("_Below")
            self.file.top += [f"class {below}({name}):", "    pass"]
            name = below
        on = name if kind in ("static", "class") and self.chance(50) else f"{name}()"
        return [f"return {on}.go" if kind == "property" else f"return {on}.go()"]

    def _in_a_coroutine(self) -> Lines:
        self.need("import asyncio")
        name = self.fresh("_later")
        body = self._use()
        if self.chance(40):
            clause = self.rng.choice(
                ["except TypeError:", "except Exception:", "except (AttributeError, ImportError):"]
            )
            body = ["try:", *indent(body), clause, "    return None"]
        self.file.top += [f"async def {name}():", *indent(body)]
        if self.chance(50):
            outer = self.fresh("_outer")
            self.file.top += [f"async def {outer}():", f"    return await {name}()"]
            name = outer
        return [f"return asyncio.run({name}())"]

    def _overridden(self) -> Lines:
        """A class below one of the library's, with a method of that in a form of its own."""
        maker = self.rng.choice(self.menu.makers)
        method = self.rng.choice(maker.methods)
        base, name = self.fresh("_Base"), self.fresh("_Own")
        self.file.top += ["try:", f"    from {maker.cls.module} import {maker.cls.qualname} as {base}"]
        self.file.top += ["except ImportError:", f"    class {base}:"]
        self.file.top += [f"        def {method.name}(self, *args, **kwargs):", "            return None"]
        parameters = [p for p in self.rng.choice(method.signatures).parameters if p.kind in BY_POSITION]
        own = ", ".join(["self", *(f"{p.name}=None" for p in parameters), "*args", "**kwargs"])
        values = ", ".join(self.rng.choice(LITERALS) for p in parameters)
        body = f"return {len(parameters)}"
        if self.chance(50):
            body = f"return super().{method.name}({', '.join(p.name for p in parameters)})"
        self.file.top += [f"class {name}({base}):", "    def __init__(self):", "        pass"]
        self.file.top += [f"    def {method.name}({own}):", f"        {body}"]
        return [f"return {name}().{method.name}({values})"]

    # -- packages ------------------------------------------------------------------------------------------------

    def _in_a_package(self) -> Lines:
        """A module of a package of its own, reached by relative imports."""
        package = f"{self.name}_{self.fresh('pkg')}"
        ref = self.rng.choice(self.menu.names)
        flag, thing = self.fresh("HAS"), self.fresh("thing")
        base = ["try:", f"    from {ref.module} import {ref.qualname} as {thing}", f"    {flag} = True"]
        base += ["except ImportError:", f"    {thing} = None", f"    {flag} = False"]
        use = [f"from {ref.module} import {ref.qualname} as found", "return found"]
        guard = self.rng.choice([f"if {flag}:", f"if {thing} is not None:", f"if not {flag}:"])
        how = self.rng.choice([f"from ._base import {flag}, {thing}", f"from .._{package}base import {flag}, {thing}"])
        module = [how, "def go():", *indent([guard, *indent(use), "return None"])]
        at = f"{package}/_base.py"
        if how.startswith("from .."):
            at = f"{package}/_{package}base.py"
            self.others[f"{package}/inner/__init__.py"] = ""
            self.others[f"{package}/inner/use.py"] = self._text(module)
            entry = "from .inner.use import go"
        else:
            self.others[f"{package}/use.py"] = self._text(module)
            entry = "from .use import go"
        self.others[at] = self._text(base)
        init = self.rng.choice([entry, entry.replace("import go", "import *"), ""])
        self.others[f"{package}/__init__.py"] = self._text([init]) if init else ""
        if init:
            self.need(f"import {package}")
            return [f"return {package}.go()"]
        inside = entry.split(" ")[1].lstrip(".")
        return [f"from {package}.{inside} import go", "return go()"]

    def _text(self, lines: Lines) -> str:
        return "\n".join(lines) + "\n"
