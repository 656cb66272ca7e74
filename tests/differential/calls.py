"""Calls: the ways in which real code passes arguments to a function that it has got hold of."""

from __future__ import annotations

from collections.abc import Callable

from driftwatch.snapshot.model.symbols import ParameterKind
from tests.differential.conditions import Conditions
from tests.differential.drafting import LITERALS, Lines, Passed, Target, indent
from tests.differential.menu import BY_POSITION, VARIABLE


class Calls(Conditions):
    """One call of a target, in one of many forms."""

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
            self._chosen,
            self._decorated,
            self._filled_in_a_loop,
            self._value_or_none,
            self._in_a_comprehension,
        ]
        ref = target.callee.ref
        if f == f"{self.comm}.{ref.qualname}":
            forms += [
                self._module_wrapper,
                self._module_wrapper,
                self._helper_wrapper,
                self._attribute,
                self._named_wrapper,
                self._options_from_function,
                self._options_from_method,
                self._class_or_placeholder,
                self._lazy_global,
            ]
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
        name = self.fresh("_wrap")
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

    def _in_a_comprehension(self, f: str, passed: Passed, target: Target) -> Lines:
        if self.chance(50):
            return [f"return [{f}({passed}) for _ in range(1)]"]
        return [f"return [{f}({passed}) for _ in range(1) if {self.condition(target)}]"]

    def _chosen(self, f: str, passed: Passed, target: Target) -> Lines:
        """One of two callables."""
        name = self.fresh("chosen")
        return [f"{name} = {f} if {self.condition(target)} else None", *self._if_there(name, passed)]

    def _if_there(self, name: str, passed: Passed) -> Lines:
        if self.chance(50):
            return [f"if {name} is None:", "    return 0", f"return {name}({passed})"]
        return [f"if {name}:", f"    return {name}({passed})", "return 0"]

    def _decorated(self, f: str, passed: Passed, target: Target) -> Lines:
        wrapped = self.fresh("wrapped")
        decorator = self.fresh("_traced")
        inner = ["def inner(*args, **kwargs):", "    return function(*args, **kwargs)"]
        if self.chance(50):
            self.need("import functools")
            inner.insert(0, "@functools.wraps(function)")
        self.file.top += [f"def {decorator}(function):", *indent(inner), "    return inner"]
        return [f"@{decorator}", f"def {wrapped}():", f"    return {f}({passed})", f"return {wrapped}()"]

    def _named_wrapper(self, f: str, passed: Passed, target: Target) -> Lines:
        """A function with parameters of its own, which it hands on by name."""
        name = self.fresh("_named")
        keys = [k for k, _ in passed.keywords]
        own = ", ".join([*(f"first{i}" for i, _ in enumerate(passed.positional)), *(f"{k}=None" for k in keys)])
        handed = ", ".join([*(f"first{i}" for i, _ in enumerate(passed.positional)), *(f"{k}={k}" for k in keys)])
        self.file.top += [f"def {name}({own}):", f"    return {f}({handed})"]
        return [f"return {name}({passed})"]

    def _lazy_global(self, f: str, passed: Passed, target: Target) -> Lines:
        module, getter = self.fresh("_mod"), self.fresh("_get")
        self.file.top += [f"{module} = None", f"def {getter}():", f"    global {module}", f"    if {module} is None:"]
        self.file.top += [f"        import {self.menu.module} as loaded", f"        {module} = loaded"]
        self.file.top += [f"    return {module}"]
        return [f"return {getter}().{target.callee.ref.qualname}({passed})"]

    def _class_or_placeholder(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("_Maybe")
        test = self._version()
        self.file.top += [
            f"if {test}:",
            f"    class {name}:",
            "        def go(self):",
            f"            return {f}({passed})",
        ]
        self.file.top += ["else:", f"    class {name}:", "        def go(self):", "            return None"]
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
        form = self.rng.randint(0, 14)
        if form == 10:
            return [], f'**{name}, **({{"{key}": {value}}} if {self.condition(target)} else {{}})'
        if form == 11:
            return self._maybe([f'{name} |= {{"{key}": {value}}}'], target), star
        if form == 12:
            return [f'{name}["{key}"] = {value}', *self._maybe([f'del {name}["{key}"]'], target)], star
        if form == 13:
            lines = self._maybe([f'{name}["{key}"] = {value}'], target)
            return [*lines, f'if "{key}" in {name} and not ({self._atom(target)}):', f'    {name}.pop("{key}")'], star
        if form == 14:
            return [f"{name} = dict({name}, {key}={value})"], star
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

    def _filled_in_a_loop(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("kw")
        pairs = "".join(f'("{k}", {v}), ' for k, v in passed.keywords)
        lines = [f"{name} = {{}}", f"for key, value in ({pairs}):", f"    {name}[key] = value"]
        positional = "".join(f"{value}, " for value in passed.positional)
        return [*lines, f"return {f}({positional}**{name})"]

    def _value_or_none(self, f: str, passed: Passed, target: Target) -> Lines:
        """A keyword that is passed only when its value is not None, as a test decides."""
        key = target.parameter
        if key not in dict(passed.keywords):
            return self._direct(f, passed, target)
        name, value = self.fresh("kw"), self.fresh("value")
        start = ", ".join(f'"{k}": {v}' for k, v in passed.without(key).keywords)
        lines = [f"{name} = {{{start}}}", f"{value} = 1 if {self.condition(target)} else None"]
        lines += [f"if {value} is not None:", f'    {name}["{key}"] = {value}']
        positional = "".join(f"{value}, " for value in passed.positional)
        return [*lines, f"return {f}({positional}**{name})"]

    def _options(self, name: str, passed: Passed, target: Target) -> Lines:
        """A body that makes and returns keyword arguments, the target's parameter under a condition."""
        key = target.parameter
        later = [(k, v) for k, v in passed.keywords if k == key]
        start = ", ".join(f'"{k}": {v}' for k, v in passed.keywords if k != key)
        lines = [f"{name} = {{{start}}}"]
        for k, v in later:
            lines += self._maybe([f'{name}["{k}"] = {v}'], target) if self.unknown is None else [f'{name}["{k}"] = {v}']
        return [*lines, f"return {name}"]

    def _options_from_function(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("_options")
        self.file.top += [f"def {name}():", *indent(self._options("kw", passed, target))]
        positional = "".join(f"{value}, " for value in passed.positional)
        return [f"return {f}({positional}**{name}())"]

    def _options_from_method(self, f: str, passed: Passed, target: Target) -> Lines:
        name = self.fresh("_Options")
        body = self._options("kw", passed, target)
        positional = "".join(f"{value}, " for value in passed.positional)
        self.file.top += [f"class {name}:", "    def options(self):", *indent(indent(body)), "    def go(self):"]
        self.file.top += [f"        return {f}({positional}**self.options())"]
        return [f"return {name}().go()"]
