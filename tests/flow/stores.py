"""Places in which one function of a program leaves a thing, and another one finds it.

Each is what stands in the module, the statements that leave the value of ``{given}`` there, and what finds it.
"""

from __future__ import annotations

import random
from textwrap import indent

from tests.flow.carriers import CALLS, CARRIERS, THINGS, Carried, with_helpers

STORES: dict[str, tuple[str, str, str]] = {
    "variable": ("KEPT = None", "global KEPT\nKEPT = {given}", "KEPT"),
    "variable not bound": ("", "global KEPT\nKEPT = {given}", "KEPT"),
    "namespace": ("KEPT = None", 'globals()["KEPT"] = {given}', "KEPT"),
    "own module": ("KEPT = None", "sys.modules[__name__].KEPT = {given}", "KEPT"),
    "own module by a name": ("KEPT = None", 'setattr(sys.modules[__name__], "KEPT", {given})', "KEPT"),
    "tuple": ("KEPT = ()", "global KEPT\nKEPT = (1, {given})", "KEPT[1]"),
    "list": ("KEPT = []", "KEPT.append({given})", "KEPT[-1]"),
    "list gone through": ("KEPT = []", "KEPT.append({given})", "[each for each in KEPT][0]"),
    "list extended": ("KEPT = []", "KEPT.extend([{given}])", "KEPT[0]"),
    "list added to": ("KEPT = []", "global KEPT\nKEPT += [{given}]", "KEPT[0]"),
    "list made anew": ("KEPT = []", "global KEPT\nKEPT = [*KEPT, {given}]", "KEPT[0]"),
    "item of a list": ("KEPT = [None]", "KEPT[0] = {given}", "KEPT[0]"),
    "slice": ("KEPT = []", "KEPT[:] = [{given}]", "KEPT[0]"),
    "inserted": ("KEPT = [1]", "KEPT.insert(0, {given})", "KEPT[0]"),
    "pairs": ("KEPT = []", 'KEPT.append(("a", {given}))', "[each for _, each in KEPT][0]"),
    "list in a list": ("KEPT = [[]]", "KEPT[0].append({given})", "KEPT[0][0]"),
    "list in a dict": ('KEPT = {{"a": []}}', 'KEPT["a"].append({given})', 'KEPT["a"][0]'),
    "records": ("KEPT = []", "KEPT.append(Record({given}))", "KEPT[0].field"),
    "holders": ("KEPT = []", "KEPT.append(Holder({given}))", "KEPT[0].give()"),
    "partials": ("KEPT = []", "KEPT.append(functools.partial(same, {given}))", "KEPT[0]()"),
    "closures": ("KEPT = []", "KEPT.append(closes({given}))", "KEPT[0]()"),
    "lambdas": ("KEPT = []", "each = {given}\nKEPT.append(lambda: each)", "KEPT[0]()"),
    "dict": ("KEPT = {{}}", 'KEPT["a"] = {given}', 'KEPT["a"]'),
    "dict by a key": ("KEPT = {{}}", "KEPT[key()] = {given}", "KEPT[key()]"),
    "dict's values": ("KEPT = {{}}", 'KEPT["a"] = {given}', "list(KEPT.values())[0]"),
    "dict updated": ("KEPT = {{}}", "KEPT.update(a={given})", 'KEPT.get("a")'),
    "setdefault": ("KEPT = {{}}", 'KEPT.setdefault("a", {given})', 'KEPT.pop("a")'),
    "dict merged": ("KEPT = {{}}", 'global KEPT\nKEPT |= {{"a": {given}}}', 'KEPT["a"]'),
    "list under a key": ("KEPT = {{}}", 'KEPT.setdefault("a", []).append({given})', 'KEPT["a"][0]'),
    "dict under a key": ("KEPT = {{}}", 'KEPT.setdefault("a", {{}})["b"] = {given}', 'KEPT["a"]["b"]'),
    "tuple under a key": ("KEPT = {{}}", 'KEPT["a"] = ({given}, 1)', 'KEPT["a"][0]'),
    "list put under a key": ("KEPT = {{}}", 'KEPT["a"] = [{given}]', 'KEPT["a"][0]'),
    "holder under a key": ("KEPT = {{}}", 'KEPT["a"] = Holder({given})', 'KEPT["a"].held'),
    "default dict": ("KEPT = collections.defaultdict(list)", 'KEPT["a"].append({given})', 'KEPT["a"][0]'),
    "ordered dict": ("KEPT = collections.OrderedDict()", 'KEPT["a"] = {given}', 'KEPT["a"]'),
    "chained maps": ("KEPT = collections.ChainMap({{}})", 'KEPT["a"] = {given}', 'KEPT["a"]'),
    "own dict": ("KEPT = Missing(None)", 'KEPT["a"] = {given}', 'KEPT["a"]'),
    "set": ("KEPT = set()", "KEPT.add({given})", "next(iter(KEPT))"),
    "deque": ("KEPT = collections.deque()", "KEPT.append({given})", "KEPT.popleft()"),
    "queue": ("KEPT = queue.Queue()", "KEPT.put({given})", "KEPT.get_nowait()"),
    "heap": ("KEPT = []", "heapq.heappush(KEPT, (1, {given}))", "heapq.heappop(KEPT)[1]"),
    "set by a function": ("KEPT = {{}}", 'operator.setitem(KEPT, "a", {given})', 'KEPT["a"]'),
    "filled by a helper": ("KEPT = []", "fill(KEPT, {given})", "KEPT[0]"),
    "put by a helper": ("KEPT = {{}}", "put(KEPT, {given})", 'KEPT["a"]'),
    "register": ("", "register({given})", 'REGISTRY["a"]'),
    "enlist": ("", "enlist({given})", "ENLISTED[0]"),
    "kept by a default": ("", "kept({given})", "kept(None)[0]"),
    "context variable": ('KEPT = contextvars.ContextVar("kept")', "KEPT.set({given})", "KEPT.get()"),
    "of a thread": ("KEPT = threading.local()", "KEPT.held = {given}", "KEPT.held"),
    "name space": ("KEPT = types.SimpleNamespace()", "KEPT.held = {given}", "KEPT.held"),
    "attribute of a class": ("class Kept:\n    held = None", "Kept.held = {given}", "Kept.held"),
    "attribute by a class's method": (
        "class Kept:\n    held = None\n\n    @classmethod\n    def keep(cls, each):\n        cls.held = each",
        "Kept.keep({given})",
        "Kept.held",
    ),
    "list of a class": ("class Kept:\n    box = []", "Kept.box.append({given})", "Kept.box[0]"),
    "dict of a class": ("class Kept:\n    box = {{}}", 'Kept.box["a"] = {given}', 'Kept.box["a"]'),
    "list of a class by its method": (
        "class Kept:\n    box = []\n\n    @classmethod\n    def keep(cls, each):\n        cls.box.append(each)",
        "Kept.keep({given})",
        "Kept.box[0]",
    ),
    "list of a class by its instances": (
        "class Kept:\n    box = []\n\n    def keep(self, each):\n        self.box.append(each)",
        "Kept().keep({given})",
        "Kept().box[0]",
    ),
    "attribute of an instance": ("KEPT = Holder()", "KEPT.held = {given}", "KEPT.held"),
    "attribute by a name": ("KEPT = Holder()", 'setattr(KEPT, "held", {given})', 'getattr(KEPT, "held")'),
    "attribute by a method": ("KEPT = Holder()", "KEPT.set({given})", "KEPT.give()"),
    "property": ("KEPT = Holder()", "KEPT.given = {given}", "KEPT.given"),
    "item of an instance": ("KEPT = Holder()", 'KEPT["a"] = {given}', 'KEPT["a"]'),
    "attribute that was not there": ("KEPT = Holder()", "KEPT.other = {given}", "KEPT.other"),
    "list of an instance": (
        (
            "class Kept:\n    def __init__(self):\n        self.box = []\n\n    def keep(self, each):\n"
            "        self.box.append(each)\n\n    def first(self):\n        return self.box[0]\n\n\nKEPT = Kept()"
        ),
        "KEPT.keep({given})",
        "KEPT.first()",
    ),
    "list of an instance, read": (
        (
            "class Kept:\n    def __init__(self):\n        self.box = []\n\n    def keep(self, each):\n"
            "        self.box.append(each)\n\n\nKEPT = Kept()"
        ),
        "KEPT.keep({given})",
        "[each for each in KEPT.box][0]",
    ),
    "dict of an instance": (
        (
            "class Kept:\n    def __init__(self):\n        self.box = {{}}\n\n    def keep(self, name, each):\n"
            "        self.box[name] = each\n\n    def get(self, name):\n"
            "        return self.box[name]\n\n\nKEPT = Kept()"
        ),
        'KEPT.keep("a", {given})',
        'KEPT.get("a")',
    ),
    "singleton": (
        (
            "class Kept:\n    one = None\n\n    @classmethod\n    def get(cls):\n        if cls.one is None:\n"
            "            cls.one = cls()\n        return cls.one"
        ),
        "Kept.get().held = {given}",
        "Kept.get().held",
    ),
    "cached getter": (
        "@functools.lru_cache(maxsize=None)\ndef kept_holder():\n    return Holder()",
        "kept_holder().held = {given}",
        "kept_holder().held",
    ),
    "attribute of a function": ("def keeps():\n    pass", "keeps.held = {given}", "keeps.held"),
    "cell": (
        (
            "def cells():\n    held = None\n\n    def keep(each):\n        nonlocal held\n        held = each\n\n"
            "    def give():\n        return held\n\n    return keep, give\n\n\nKEEP, GIVE = cells()"
        ),
        "KEEP({given})",
        "GIVE()",
    ),
    "list in a cell": (
        (
            "def cells():\n    box = []\n\n    def keep(each):\n        box.append(each)\n\n"
            "    def give():\n        return box[0]\n\n    return keep, give\n\n\nKEEP, GIVE = cells()"
        ),
        "KEEP({given})",
        "GIVE()",
    ),
    "registering decorator": (
        (
            "KEPT = {{}}\n\n\ndef keeps(name):\n    def decorator(function):\n        KEPT[name] = function\n"
            "        return function\n\n    return decorator"
        ),
        'keeps("a")({given})',
        'KEPT["a"]',
    ),
    "listing decorator": (
        "KEPT = []\n\n\ndef keeps(function):\n    KEPT.append(function)\n    return function",
        "keeps({given})",
        "KEPT[0]",
    ),
    "subclasses": (
        "class Kept:\n    every = []\n\n    def __init_subclass__(cls, **more):\n        Kept.every.append(cls)",
        "class Local(Kept):\n    held = [{given}]",
        "Kept.every[-1].held[0]",
    ),
    "subclasses by name": (
        (
            "class Kept:\n    every = {{}}\n\n    def __init_subclass__(cls, **more):\n"
            "        cls.every[cls.__name__] = cls"
        ),
        "class Local(Kept):\n    held = [{given}]",
        'Kept.every["Local"].held[0]',
    ),
    "generator": ("KEPT = echoes()\nnext(KEPT)\nGOT = []", "GOT.append(KEPT.send({given}))", "GOT[0]"),
    "weak": (
        "KEPT = []",
        "held = Holder({given})\nKEPT.append(held)\nKEPT.append(weakref.ref(held))",
        "KEPT[1]().held",
    ),
}


def left(store: str, *ways: str, thing: str = "function", call: str = "plain", found: tuple[str, ...] = ()) -> Carried:
    """The program of which one function leaves a thing somewhere, and another one finds it and calls it.

    `ways` are those along which it gets there, `found` those from there.
    """
    given, called = THINGS[thing]
    top, put, find = STORES[store]
    there, given = _through(ways, given, "given")
    back, got = _through(found, find.format(), "got")
    back += [f"got = {got}", CALLS[call].format(it=called.format(it="got"))]
    there.append(put.format(given=given))
    parts = [top.format()] if top else []
    for name, lines in (("put_away", there), ("run", back)):
        parts.append(f"def {name}(x):\n{indent(chr(10).join(lines), '    ')}\n")
    return Carried(" then ".join([thing, *ways, store, *found, call]), with_helpers("\n\n".join(parts)))


def _through(ways: tuple[str, ...], given: str, name: str) -> tuple[list[str], str]:
    lines = []
    for i, way in enumerate(ways):
        got = f"{name}_{i}"
        lines.append(CARRIERS[way].format(given=given, got=got))
        given = got
    return lines, given


def some_left(seed: int, number: int) -> list[Carried]:
    """Programs of several ways to a place and from there, chosen by chance."""
    chance = random.Random(seed)
    names, things, calls, stores = sorted(CARRIERS), sorted(THINGS), sorted(CALLS), sorted(STORES)
    return [
        left(
            chance.choice(stores),
            *chance.choices(names, k=chance.choice((0, 0, 1, 2))),
            thing=chance.choice(things),
            call=chance.choice(calls),
            found=tuple(chance.choices(names, k=chance.choice((0, 0, 1, 2)))),
        )
        for _ in range(number)
    ]
