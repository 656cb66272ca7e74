"""Small guarded programs over the shapes that real code uses, generated from what differs between a library's releases.

Enters: a `random.Random` (a seeded one, or one that hypothesis controls and shrinks) and a menu. Leaves: a program of
several functions that do not depend on each other, so that what one raises hides nothing of the next.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from driftwatch.releases import EMPTY
from driftwatch.snapshot.model.symbols import Signature
from tests.differential.drafting import Lines, Target, indent
from tests.differential.journeys import Journeys
from tests.differential.menu import Callee, Menu
from tests.differential.programs import Call, Program, Value


def generate(rng: random.Random, menu: Menu, name: str, functions: int = 4, *, journeys: bool = False) -> Program:
    """A program whose files are called after `name`; `journeys` adds what travels before it is used."""
    generator = Generator(rng, menu, name)
    generator.journeys = journeys
    return generator.program(functions)


class Generator(Journeys):
    """Whole programs."""

    journeys = False

    def program(self, functions: int) -> Program:
        calls = [self._function(number) for number in range(1, functions + 1)]
        files = {f"{self.name}.py": self.main.text()}
        if self.helper.top or self.helper.body:
            files[f"{self.name}_helper.py"] = self.helper.text()
        return Program({**files, **self.others}, self.name, tuple(calls))

    # -- functions -----------------------------------------------------------------------------------------------

    def _function(self, number: int) -> Call:
        self.file = self.main
        if self.unknown is not None:
            self.unknown = []
        self.decorators = []
        body = self.rng.choice(
            [
                self._about_call,
                self._about_call,
                self._about_call,
                self._about_name,
                self._about_instance,
                self._about_class,
                self.about_surroundings,
                *([self.about_journey] * 3 if self.journeys else []),
            ]
        )()
        parameters: dict[str, tuple[Value, ...]] = dict.fromkeys(self.unknown or (), (False, True))
        self.main.body += [*self.decorators, f"def t{number}({', '.join(parameters)}):", *indent(body), "", ""]
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
        if self.menu.abstract and self.chance(30):
            return self._about_subclass()
        if not self.menu.constructors:
            return self._about_call()
        target = self._target(self.rng.choice(self.menu.constructors))
        return self._around(target, lambda: self._call(target), 1)

    def _about_subclass(self) -> Lines:
        """A class of our own below an abstract one, with some of the methods it needs, and constructed."""
        ref, methods = self.rng.choice(self.menu.abstract)
        base, name = self.fresh("_Base"), self.fresh("_Own")
        defined = [m for m in methods if self.chance(70)]
        self.file.top += ["try:", f"    from {ref.module} import {ref.qualname} as {base}"]
        self.file.top += ["except ImportError:", f"    {base} = object"]
        self.file.top += [f"class {name}({base}):", "    def __init__(self):", "        pass"]
        for method in defined:
            self.file.top += [f"    def {method}(self, *args, **kwargs):", "        return None"]
        target = Target(Callee(ref, (Signature(),), (), EMPTY), f"{base}", (), None)
        return self._wrapped(target, lambda: [f"return {name}()"], 1)

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
        form = self.rng.randint(0, 13)
        if form == 12:
            bound = self.fresh("_late")
            self.file.top += [f"if {self._version()}:", "    try:", f"        from {module} import {name} as {bound}"]
            self.file.top += ["    except ImportError:", f"        {bound} = None", "else:", f"    {bound} = None"]
            return self._if(f"{bound} is not None", [f"return {bound}"])
        if form == 13:
            return [f"if {self._version()}:", f"    from {module} import {name}", f"    return {name}", "return None"]
        if form == 10:
            self.need("import importlib")
            loader = self.fresh("_load")
            self.file.top += [f"def {loader}(module, name):"]
            self.file.top += ["    return getattr(importlib.import_module(module), name, None)"]
            return [f'found = {loader}("{module}", "{name}")', *self._if("found is not None", ["return found"])]
        if form == 11:
            lines = ["try:", f"    from {module} import {name}", "except ImportError:", "    return None"]
            return [*lines, "else:", f"    return {name}"]
        if form == 0:
            return [f"from {module} import {name}", f"return {name}"]
        if form == 1:
            return ["try:", f"    from {module} import {name}", *self._except_import(), f"return {name}"]
        if form == 2 and module not in self.menu.hidden:
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
            # Below a package that is missing itself, find_spec raises instead of answering.
            missing = self.rng.choice([m for m in self.menu.modules if m.rpartition(".")[0] == self.menu.module])
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
            if form % 2 and ref.module not in self.menu.hidden:
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

    # -- statements ----------------------------------------------------------------------------------------------

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
        form = self.rng.randint(0, 14)
        if form <= 1:
            return use()
        if form == 12:
            inner = self.fresh("inner")
            return [f"def {inner}():", *indent(self._wrapped(target, use, depth - 1)), f"return {inner}()"]
        if form == 13:
            return ["while True:", *indent(use()), "    break"]
        if form == 14:
            self.need("import contextlib")
            return ["with contextlib.nullcontext():", *indent(self._wrapped(target, use, depth - 1))]
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
