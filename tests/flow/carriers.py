"""Ways in which Python code carries a thing from one place to another: what a program of the law's test is made of.

Each is statements that take the value of the expression ``{given}`` and leave it, or what gives it, as ``{got}``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from textwrap import dedent, indent

_WAYS = """
plain: {got} = {given}
tuple: {got} = (1, {given})[1]
unpacked: _, {got} = 1, {given}
starred: {got}, *_ = [{given}, 1]
rest: _, *rest = [1, {given}]; {got} = rest[0]
list item: box = [{given}]; {got} = box[0]
list at a place: box = [{given}]; {got} = box[at()]
slice: {got} = [1, {given}][1:][0]
list set: box = [None]; box[0] = {given}; {got} = box[0]
appended: box = []; box.append({given}); {got} = box.pop()
sorted: {got} = sorted([{given}], key=str)[0]
reversed: {got} = list(reversed([{given}]))[0]
dict item: box = {{"a": {given}}}; {got} = box["a"]
dict under a key: box = {{"a": {given}}}; {got} = box[key()]
dict set: box = {{}}; box[1] = {given}; {got} = box[1]
popitem: box = {{"a": {given}}}; _, {got} = box.popitem()
values: {got} = next(iter({{"a": {given}}}.values()))
items: {got} = [v for _, v in {{"a": {given}}}.items()][0]
set: {got} = next(iter({{{given}}}))
for over a set: [{got}] = [each for each in {{{given}}}]
max: {got} = max([{given}], key=str)
lambda: {got} = (lambda each: each)({given})
lambda default: {got} = (lambda each={given}: each)()
conditional: {got} = {given} if at() == 0 else None
or: {got} = None or {given}
walrus: ({got} := {given})
comprehension: {got} = [each for each in [{given}]][0]
generator: {got} = next(each for each in [{given}])
zip: {got} = list(zip([1], [{given}]))[0][1]
enumerate: {got} = list(enumerate([{given}]))[0][1]
map: {got} = list(map(lambda each: each, [{given}]))[0]
filter: {got} = list(filter(None, [{given}]))[0]
partial: {got} = functools.partial({given})
partial's function: {got} = functools.partial({given}, 1).func
reduce: {got} = functools.reduce(lambda a, b: b, [1, {given}])
chain: {got} = next(itertools.chain([{given}]))
itemgetter: {got} = operator.itemgetter(0)([{given}])
namespace: space = types.SimpleNamespace(held={given}); {got} = space.held
setattr: space = types.SimpleNamespace(); setattr(space, "held", {given}); {got} = getattr(space, "held")
setattr by a name: space = types.SimpleNamespace(); setattr(space, key(), {given}); {got} = getattr(space, key())
queue: waiting = queue.Queue(); waiting.put({given}); {got} = waiting.get()
deque: waiting = collections.deque([{given}]); {got} = waiting.popleft()
default dict: waiting = collections.defaultdict(list); waiting["a"].append({given}); {got} = waiting["a"][0]
chain map: {got} = collections.ChainMap({{"a": {given}}})["a"]
copy: {got} = copy.copy([{given}])[0]
weak: {got} = weakref.ref({given})()
globals: globals()["held_here"] = {given}; {got} = held_here
vars: vars(Holder)["box"].append({given}); {got} = Holder.box.pop()
function: {got} = same({given})
keyword: {got} = named(each={given})
arguments: {got} = several(1, {given})
keywords: {got} = keyed(a={given})
returned in a tuple: {got} = paired({given})[0]
yielded: {got} = next(yields({given}))
sent on: {got} = list(sends({given}))[0]
closure: {got} = closes({given})()
decorated: {got} = wraps({given})
attribute: holder = Holder(); holder.held = {given}; {got} = holder.held
constructor: {got} = Holder({given}).held
method: {got} = Holder({given}).give()
property: {got} = Holder({given}).given
class attribute: Holder.kept = {given}; {got} = Holder().kept
item of an object: holder = Holder(); holder["a"] = {given}; {got} = holder["a"]
called object: {got} = Holder({given})()
iterated object: {got} = next(iter(Holder({given})))
record: {got} = Record({given}).field
named tuple: {got} = Pair({given}, 1).first
context: {got} = contextlib.nullcontext({given}).__enter__()
stack: {got} = contextlib.ExitStack().enter_context(contextlib.nullcontext({given}))
executor: {got} = concurrent.futures.ThreadPoolExecutor(1).submit(same, {given}).result()
"""

_BLOCKS = {
    "loop": "for {got} in [{given}]:\n    break",
    "while": "while True:\n    {got} = {given}\n    break",
    "with": "with contextlib.nullcontext({given}) as {got}:\n    pass",
    "try": "try:\n    raise KeyError({given})\nexcept KeyError as error:\n    {got} = error.args[0]",
    "finally": "try:\n    pass\nfinally:\n    {got} = {given}",
    "match": "match [{given}]:\n    case [{got}]:\n        pass",
    "match mapping": 'match {{"a": {given}}}:\n    case {{"a": {got}}}:\n        pass',
    "nested": "def inner():\n    return {given}\n{got} = inner()",
    "nonlocal": "{got} = None\ndef inner(each):\n    nonlocal {got}\n    {got} = each\ninner({given})",
    "global": "global held\nheld = {given}\n{got} = held",
    "class body": "class Local:\n    held = staticmethod({given})\n{got} = Local.held",
    "augmented": "box = []\nbox += [{given}]\n{got} = box[0]",
}

CARRIERS = {
    **{name: "\n".join(part.strip() for part in text.split(";")) for name, _, text in
       (line.partition(": ") for line in _WAYS.strip().splitlines())},
    **_BLOCKS,
}  # fmt: skip

_HEAD = dedent(
    """
    import collections, concurrent.futures, contextlib, copy, dataclasses, functools, itertools, operator, queue
    import types, typing, weakref

    import lib.comm as comm


    def at():
        return len("")


    def key():
        return "".join("a")


    def same(each):
        return each


    def named(*, each):
        return each


    def several(*each):
        return each[1]


    def keyed(**each):
        return each["a"]


    def paired(each):
        return each, 1


    def yields(each):
        yield each


    def sends(each):
        yield from [each]


    def closes(each):
        def inner():
            return each

        return inner


    def wraps(each):
        @functools.wraps(each)
        def inner(*args, **kwargs):
            return each(*args, **kwargs)

        return inner


    class Holder:
        box = []

        def __init__(self, held=None):
            self.held = held
            self.items = {}

        def give(self):
            return self.held

        @property
        def given(self):
            return self.held

        def __call__(self):
            return self.held

        def __iter__(self):
            return iter([self.held])

        def __setitem__(self, name, value):
            self.items[name] = value

        def __getitem__(self, name):
            return self.items[name]


    @dataclasses.dataclass
    class Record:
        field: object


    class Pair(typing.NamedTuple):
        first: object
        second: int


    def run(x):
    """
).lstrip()


@dataclass(frozen=True)
class Carried:
    """A program that carries a function of the library along some ways and calls it."""

    name: str
    text: str


def carried(*ways: str) -> Carried:
    """The program of these ways, one after the other."""
    given, lines = "comm.fuse", []
    for i, way in enumerate(ways):
        got = f"got_{i}"
        lines.append(CARRIERS[way].format(given=given, got=got))
        given = got
    lines.append(f"return {given}(x, 1)")
    return Carried(" then ".join(ways), _HEAD + indent("\n".join(lines), "    ") + "\n")


def some(seed: int, number: int) -> list[Carried]:
    """Programs of several ways, chosen by chance."""
    chance = random.Random(seed)
    return [carried(*chance.choices(sorted(CARRIERS), k=chance.choice((2, 3)))) for _ in range(number)]
