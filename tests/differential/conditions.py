"""Conditions: the tests that real code makes before it uses what not every release has."""

from __future__ import annotations

from tests.differential.drafting import Draft, Target, indent


class Conditions(Draft):
    """Conditions that the snapshots answer exactly, combined, kept in flags and functions; and unknown ones."""

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
            if self.chance(40):
                probe = self._other_probe(f"{self.comm}.{ref.qualname}", target.parameter)
            if self.chance(60):
                return f'hasattr({self.comm}, "{ref.qualname}") and {probe}'
            return probe
        if form == 6 and on_module:
            return f'callable(getattr({self.comm}, "{ref.qualname}", None))'
        return self._version()

    def _other_probe(self, function: str, parameter: str) -> str:
        form = self.rng.randint(0, 3)
        if form == 0:
            return f'inspect.signature({function}).parameters.get("{parameter}") is not None'
        if form == 1:
            return f'"{parameter}" in inspect.getfullargspec({function}).args'
        name = self.fresh("_takes")
        if form == 2:
            body = ["return name in inspect.signature(function).parameters"]
        else:
            body = ["try:", "    names = inspect.signature(function).parameters", "except (ValueError, TypeError):"]
            body += ["    return False", "return name in names"]
        self.file.top += [f"def {name}(function, name):", *indent(body)]
        return f'{name}({function}, "{parameter}")'

    def _version(self) -> str:
        top, distribution = self.menu.top, self.menu.distribution
        release = self.rng.choice(self.menu.releases)
        operator = self.rng.choice([">=", ">=", "<", ">", "<=", "==", "!="])
        numbers = release.partition(".post")[0]
        form = self.rng.randint(0, 10)
        if form == 7:
            self.need(f"import {top}")
            self.need("from packaging.specifiers import SpecifierSet")
            operator = ">=" if operator == ">" else operator  # a post release of the named one is not greater to it
            return f'SpecifierSet("{operator}{release}").contains({top}.__version__)'
        if form == 8:
            self.need(f"import {top}")
            self.need("from packaging.version import Version")
            earlier = self.rng.choice(self.menu.releases)
            return f'Version("{earlier}") <= Version({top}.__version__) < Version("{release}")'
        if form == 9:
            self.need(f"import {top}")
            self.need("from packaging.version import Version")
            minor = numbers.split(".")[1]
            return f"Version({top}.__version__).minor {operator} {minor}"
        if form == 10:
            self.need(f"import {top}")
            self.need("from packaging.version import Version")
            name = self.fresh("_VERSION")
            self.file.top.append(f"{name} = Version({top}.__version__)")
            return f'{name} {operator} Version("{release}")'
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
        form = self.rng.randint(0, 16)
        if form == 14:
            return f"{self.rng.choice(['all', 'any'])}([{self._atom(target)}, {self._atom(target)}])"
        if form == 15:
            return self._kept(target)
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

    def _kept(self, target: Target) -> str:
        """A flag that is kept in a class or a dictionary."""
        test = self._version()
        name = self.fresh("_CAN")
        form = self.rng.randint(0, 3)
        if form == 0:
            self.file.top += [f"class {name}:", f"    it = {test}"]
            return f"{name}.it"
        self.file.top.append(f'{name} = {{"it": {test}}}')
        return f'{name}["it"]' if form < 3 else f'{name}.get("it", False)'

    def _cached(self, target: Target) -> str:
        name = self.fresh("_has")
        decorators = []
        if self.chance(50):
            self.need("import functools")
            decorators = [self.rng.choice(["@functools.cache", "@functools.lru_cache(maxsize=None)"])]
        form = self.rng.randint(0, 2)
        if form == 0:
            body = [f"return {self._atom(target)}"]
        elif form == 1:
            body = [f"if {self._atom(target)}:", "    return True", "return False"]
        else:
            body = ["try:", f"    return {self._atom(target)}", "except Exception:", "    return False"]
        self.file.top += [*decorators, f"def {name}():", *indent(body)]
        return f"{name}()"

    def _in_helper(self, target: Target) -> str:
        name = self.fresh("_has_it")
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
