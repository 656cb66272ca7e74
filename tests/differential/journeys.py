"""What travels before it is used: flags, keywords, exceptions and objects, through helpers, classes and other files."""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.drafting import Lines, Passed, Target, indent
from tests.differential.surroundings import Surroundings


class Journeys(Surroundings):
    """Functions about a use that several such shapes lead to; each shape goes with each other one."""

    def about_journey(self) -> Lines:
        """The body of one function of the program."""
        callees = [callee for callee in self.menu.functions if callee.ref.module == self.menu.module]
        callee = self.rng.choice(callees or list(self.menu.functions))
        if not callees:
            return self.about_surroundings()
        parameter = self.rng.choice(callee.drifting) if callee.drifting else None
        target = Target(callee, f"{self.comm}.{callee.ref.qualname}", (), parameter)
        lines = self._keywords(target) if self.chance(65) else self._call(target)
        if self.chance(60):
            lines = self._if(self._travelled(target), lines)
        if self.chance(45):
            lines = self._exception(lines)
        return self._place(target, lines) if self.chance(30) else lines

    def _names(self) -> list[str]:
        return [ref.qualname for ref in self.menu.names if ref.module == self.menu.module]

    def _put(self, *lines: str) -> None:
        """Module-level code of the helper, or of the file itself."""
        self.file.top += lines

    def _if(self, test: str, use: Lines) -> Lines:
        form = self.rng.randint(0, 5)
        if form == 5:
            return [
                f"match bool({test}):",
                "    case True:",
                *indent(indent(use)),
                "    case _:",
                "        return None",
            ]
        if form == 1:
            return [f"if not ({test}):", "    return None", *use]
        if form == 2:
            return [f"assert {test}", *use]
        if form == 3:
            return [f"if {test}:", *indent(use), "else:", "    return 0"]
        if form == 4:
            return [f"if not ({test}):", "    raise RuntimeError('not there')", *use]
        return [f"if {test}:", *indent(use), "return None"]

    # -- flags ---------------------------------------------------------------------------------------------------

    def _travelled(self, target: Target) -> str:
        """A test of the library, that has come a long way."""
        here, name = self.file, target.callee.ref.qualname
        if self.chance(60):
            self.file = self.helper
        try:
            made, test = self._made(target, name)
        finally:
            elsewhere, self.file = self.file is not here, here
        if elsewhere:
            self.need(f"from {self.name}_helper import {made}")
        return test.format(made)

    def _made(self, target: Target, name: str) -> tuple[str, str]:
        """What is to be imported, and the test with its name left open."""
        comm, made = self.comm, self.fresh("_flag")
        forms: list[Callable[[str, str, Target, str], str]] = [
            self._as_variable, self._as_function, self._as_has, self._as_has_all, self._as_record, self._as_object,
            self._as_bits, self._as_set, self._as_mode, self._as_probes, self._as_dict, self._as_code,
        ]  # fmt: skip
        return made, self.rng.choice(forms)(made, comm, target, name)

    def _as_variable(self, made: str, comm: str, target: Target, name: str) -> str:
        self._put(f"{made} = {self._atom(target)}")
        return "{}"

    def _as_function(self, made: str, comm: str, target: Target, name: str) -> str:
        self._put(f"def {made}():", f"    return {self._atom(target)}")
        return "{}()"

    def _as_has(self, made: str, comm: str, target: Target, name: str) -> str:
        if self.chance(50):
            self.need("import functools")
            self._put("@functools.lru_cache(maxsize=None)")
        self._put(f"def {made}(name):", f"    return hasattr({comm}, name)")
        return f'{{}}("{name}")'

    def _as_has_all(self, made: str, comm: str, target: Target, name: str) -> str:
        self._put(f"def {made}(*names):", f"    return all(hasattr({comm}, name) for name in names)")
        other = self.rng.choice(self._names() or [name])
        return f'{{}}("{name}", "{other}")'

    def _as_record(self, made: str, comm: str, target: Target, name: str) -> str:
        self.need("import dataclasses")
        cls = self.fresh("_Features")
        test = self._atom(target)
        self._put(
            "@dataclasses.dataclass(frozen=True)", f"class {cls}:", "    new: bool = False", "    old: bool = True"
        )
        self._put("    @classmethod", "    def detect(cls):", f"        return cls(new=bool({test}), old=False)")
        self._put(f"{made} = {cls}.detect()")
        return "{}.new"

    def _as_object(self, made: str, comm: str, target: Target, name: str) -> str:
        cls = self.fresh("_Features")
        test = self._atom(target)
        self._put(f"class {cls}:", "    def __init__(self, new):", "        self.new = new")
        if self.chance(50):
            self._put("    def usable(self):", "        return self.new", f"{made} = {cls}({test})")
            return "{}.usable()"
        self._put(f"{made} = {cls}(True) if {test} else {cls}(False)")
        return "{}.new"

    def _as_bits(self, made: str, comm: str, target: Target, name: str) -> str:
        self.need("import enum")
        cls = self.fresh("_Can")
        self._put(f"class {cls}(enum.IntFlag):", "    NONE = 0", "    NEW = 1", "    FAST = 2")
        self._put(f"{made} = {cls}.FAST | ({cls}.NEW if {self._atom(target)} else {cls}.NONE)")
        return "({} & 1)"

    def _as_set(self, made: str, comm: str, target: Target, name: str) -> str:
        self._put(f'{made} = {{name for name in ("{name}", "nothing") if hasattr({comm}, name)}}')
        return f'"{name}" in {{}}'

    def _as_mode(self, made: str, comm: str, target: Target, name: str) -> str:
        self.need("import enum")
        cls = self.fresh("_Mode")
        self._put(f"class {cls}(enum.Enum):", '    NEW = "new"', '    OLD = "old"')
        self._put(f"{made} = {cls}.NEW if {self._atom(target)} else {cls}.OLD")
        return '{}.value == "new"'

    def _as_probes(self, made: str, comm: str, target: Target, name: str) -> str:
        cls = self.fresh("_Probe")
        other = self.rng.choice(self._names() or [name])
        self._put(f"class {cls}:", "    def __init__(self, name):", "        self.name = name")
        self._put(f"        self.there = hasattr({comm}, name)", f'{made} = {cls}("{name}")')
        self._put(f'{self.fresh("_other")} = {cls}("{other}")')
        return "{}.there"

    def _as_dict(self, made: str, comm: str, target: Target, name: str) -> str:
        self._put(f'{made} = {{"new": {self._atom(target)}, "old": True}}')
        return '{}["new"]'

    def _as_code(self, made: str, comm: str, target: Target, name: str) -> str:
        if target.parameter is None or "." in name:
            return self._as_variable(made, comm, target, name)
        names = self.fresh("_names")
        self._put(f"def {names}(function):", "    return function.__code__.co_varnames")
        self._put(f'{made} = hasattr({comm}, "{name}") and "{target.parameter}" in {names}({comm}.{name})')
        return "{}"

    # -- keywords ------------------------------------------------------------------------------------------------

    def _keywords(self, target: Target) -> Lines:
        """A call whose keywords have come a long way."""
        passed = self._passed(target)
        forms: list[Callable[[str, Passed, str], Lines]] = [
            self._by_parameter, self._by_optional, self._by_pairs, self._by_locals, self._by_template, self._by_specs,
            self._by_filling, self._by_pool, self._by_gather, self._by_caller, self._by_registry, self._by_path,
            self._by_steps, self._by_options,
        ]  # fmt: skip
        first = "".join(f"{value}, " for value in passed.positional)
        return self.rng.choice(forms)(target.expression, passed, first)

    def _dict_of(self, passed: Passed) -> str:
        return "{" + ", ".join(f'"{key}": {value}' for key, value in passed.keywords) + "}"

    def _by_parameter(self, f: str, passed: Passed, first: str) -> Lines:
        name = self.fresh("_spread")
        self._put(f"def {name}(options):", f"    return {f}({first}**options)")
        return [f"return {name}({self._dict_of(passed)})"]

    def _by_optional(self, f: str, passed: Passed, first: str) -> Lines:
        name = self.fresh("_spread")
        self._put(f"def {name}(extra=None):", f"    return {f}({first}**(extra or {{}}))")
        return [f"return {name}({self._dict_of(passed)})"]

    def _by_pairs(self, f: str, passed: Passed, first: str) -> Lines:
        name = self.fresh("_pairs")
        self._put(f"def {name}():", *(f'    yield "{key}", {value}' for key, value in passed.keywords), "    return")
        if not passed.keywords:
            self._put("    yield")
        return [f"return {f}({first}**dict({name}()))"]

    def _by_locals(self, f: str, passed: Passed, first: str) -> Lines:
        name = self.fresh("_local")
        own = ", ".join(key for key, _ in passed.keywords)
        self._put(f"def {name}({own}):", f"    return {f}({first}**locals())")
        return [f"return {name}({Passed((), passed.keywords)})"]

    def _by_template(self, f: str, passed: Passed, first: str) -> Lines:
        base, below = self.fresh("_Step"), self.fresh("_Below")
        self._put(f"class {base}:", "    def options(self):", "        return {}", "    def go(self):")
        self._put(f"        return {f}({first}**self.options())", f"class {below}({base}):", "    def options(self):")
        self._put(f"        return {{**super().options(), **{self._dict_of(passed)}}}")
        return [f"return {below}().go()"]

    def _by_specs(self, f: str, passed: Passed, first: str) -> Lines:
        cls, mine, other = self.fresh("_Spec"), self.fresh("mine"), self.fresh("other")
        self._put(f"class {cls}:", "    def __init__(self, **options):", "        self.options = options")
        lines = [f"{mine} = {cls}({Passed((), passed.keywords)})", f"{other} = {cls}(nope=1)"]
        return [*lines, f"return {f}({first}**{mine}.options)"]

    def _by_filling(self, f: str, passed: Passed, first: str) -> Lines:
        name, options = self.fresh("_fill"), self.fresh("options")
        fills = [f'    options["{key}"] = {value}' for key, value in passed.keywords]
        self._put(f"def {name}(options):", *(fills or ["    pass"]))
        return [f"{options} = {{}}", f"{name}({options})", f"return {f}({first}**{options})"]

    def _by_pool(self, f: str, passed: Passed, first: str) -> Lines:
        self.need("from concurrent.futures import ThreadPoolExecutor")
        given = "".join(f", {part}" for part in [str(passed)] if part)
        return ["with ThreadPoolExecutor(1) as pool:", f"    return pool.submit({f}{given}).result()"]

    def _by_gather(self, f: str, passed: Passed, first: str) -> Lines:
        self.need("import asyncio")
        name = self.fresh("both")
        lines = ["async def one():", f"    return {f}({passed})", f"async def {name}():"]
        return [*lines, "    return await asyncio.gather(one())", f"return asyncio.run({name}())"]

    def _by_caller(self, f: str, passed: Passed, first: str) -> Lines:
        self.need("import operator")
        owner, _, name = f.rpartition(".")
        given = "".join(f", {part}" for part in [str(passed)] if part)
        return [f'return operator.methodcaller("{name}"{given})({owner})']

    def _by_registry(self, f: str, passed: Passed, first: str) -> Lines:
        table, register, entry = self.fresh("_TABLE"), self.fresh("_register"), self.fresh("_entry")
        self._put(f"{table} = {{}}", f"def {register}(name):", "    def decorator(function):")
        self._put(f"        {table}[name] = function", "        return function", "    return decorator")
        self._put(f'@{register}("a")', f"def {entry}():", f"    return {f}({passed})")
        return [f'return {table}["a"]()']

    def _by_path(self, f: str, passed: Passed, first: str) -> Lines:
        self.need("import importlib")
        parent, _, last = self.menu.module.rpartition(".")
        loader = self.fresh("_load")
        self._put(f"def {loader}(part):", f'    return importlib.import_module(f"{parent}.{{part}}")')
        return [f'return {loader}("{last}").{f.rpartition(".")[2]}({passed})']

    def _by_steps(self, f: str, passed: Passed, first: str) -> Lines:
        steps, enlist, run = self.fresh("_STEPS"), self.fresh("_enlist"), self.fresh("_all")
        self._put(f"{steps} = []", f"def {enlist}(step):", f"    {steps}.append(step)", f"def {run}():")
        self._put(f"    for step in {steps}:", f"        step({passed})", f"{enlist}({f})")
        return [f"return {run}()"]

    def _by_options(self, f: str, passed: Passed, first: str) -> Lines:
        self.need("import types")
        space = self.fresh("space")
        lines = [f"{space} = types.SimpleNamespace()", f"for key, value in {self._dict_of(passed)}.items():"]
        return [*lines, f"    setattr({space}, key, value)", f"return {f}({first}**vars({space}))"]

    # -- exceptions ----------------------------------------------------------------------------------------------

    def _exception(self, use: Lines) -> Lines:
        """What becomes of what the use raises."""
        name = self.fresh("attempt")
        attempt = [f"def {name}():", *indent(use)]
        kind = self.rng.choice(["Exception", "TypeError", "(TypeError, AttributeError)"])
        # There is one event loop in a thread.
        form = self.rng.randint(0, 8 if any("asyncio.run" in line for line in use) else 9)
        if form == 0:
            lines = ["try:", f"    found = {name}() or 1", f"except {kind}:", "    found = None"]
            return [*attempt, *lines, "if found is None:", "    raise RuntimeError('none')", "return found"]
        if form == 1:
            other = self.rng.choice(["TypeError", "AttributeError", "ValueError"])
            lines = ["try:", f"    return {name}()", "except Exception as error:"]
            return [*attempt, *lines, f"    if isinstance(error, {other}):", "        raise", "    return None"]
        if form == 2:
            helper = self.fresh("_fails")
            self._put(f"def {helper}(error):", "    raise RuntimeError('failed') from error")
            return [*attempt, "try:", f"    return {name}()", f"except {kind} as error:", f"    {helper}(error)"]
        if form == 3:
            manager = self.fresh("_Quiet")
            self._put(f"class {manager}:", "    def __enter__(self):", "        return self")
            self._put(
                "    def __exit__(self, kind, error, trace):", f"        return {self.rng.choice(['True', 'None'])}"
            )
            return [*attempt, f"with {manager}():", f"    return {name}()", "return None"]
        if form == 4:
            self.need("import contextlib")
            manager = self.fresh("_quiet")
            self._put("@contextlib.contextmanager", f"def {manager}():", "    try:", "        yield")
            self._put(f"    except {kind}:", "        pass")
            return [*attempt, f"with {manager}():", f"    return {name}()", "return None"]
        if form == 5:
            wrapper = self.fresh("_optional")
            self._put(f"def {wrapper}(function):", "    def inner(*args, **kwargs):", "        try:")
            self._put("            return function(*args, **kwargs)", f"        except {kind}:")
            self._put("            return None", "    return inner")
            return [f"@{wrapper}", *attempt, f"return {name}()"]
        if form == 6:
            lines = [
                "errors = []",
                f"for each in ({name},):",
                "    try:",
                "        each()",
                f"    except {kind} as error:",
            ]
            return [*attempt, *lines, "        errors.append(error)", "if errors:", "    raise RuntimeError(errors)"]
        if form == 7:
            lines = ["for _ in range(2):", "    try:", f"        return {name}()", f"    except {kind} as error:"]
            return [*attempt, *lines, "        last = error", "raise last"]
        if form == 8:
            probe = self.fresh("probe")
            lines = [f"def {probe}():", "    try:", f"        {name}()", f"    except {kind} as error:"]
            lines += [
                "        return f'no: {error}'",
                "    return None",
                f"reason = {probe}()",
                "if reason is not None:",
            ]
            return [*attempt, *lines, "    raise RuntimeError(reason)"]
        self.need("import asyncio")
        lines = [f"async def {name}_later():", f"    return {name}()", f"async def {name}_all():"]
        lines += [f"    return await asyncio.gather({name}_later(), return_exceptions=True)"]
        return [*attempt, *lines, f"return asyncio.run({name}_all())"]

    # -- places --------------------------------------------------------------------------------------------------

    def _place(self, target: Target, lines: Lines) -> Lines:
        """Where the use stands: in a class in a class, behind a skip, in a method of an object that may not be had."""
        outer, form = self.fresh("_Outer"), self.rng.randint(0, 3)
        if self.unknown:
            form = 3
        if form == 0:
            body = ["class Inner:", "    def go(self):", *indent(indent(lines))]
            self._put(f"class {outer}:", *indent(body))
            return [f"return {outer}.Inner().go()"]
        if form == 1:
            self._put(f"class {outer}:", "    def __init__(self):", f"        assert {self._atom(target)}")
            self._put("    def go(self):", *indent(indent(lines)))
            return [f"return {outer}().go()"]
        if form == 2:
            self.need("import unittest")
            self.decorators = [
                f"@unittest.{self.rng.choice(['skipIf', 'skipUnless'])}({self._atom(target)}, 'not there')"
            ]
            return lines
        proxy = self.fresh("_Lazy")
        self.need("import importlib")
        self._put(f"class {proxy}:", "    def __init__(self, name):", "        self._name = name")
        self._put("    def __getattr__(self, item):")
        self._put("        return getattr(importlib.import_module(self._name), item)")
        lazy = self.fresh("_lazy")
        self._put(f'{lazy} = {proxy}("{self.menu.module}")')
        return [f"if {self._travelled(target)}:", f"    {lazy}.{target.callee.ref.qualname}", *lines]
