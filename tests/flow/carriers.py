"""Ways in which Python code carries a thing from one place to another: what a program of the law's test is made of.

Each is statements that take the value of the expression ``{given}`` and leave it, or what gives it, as ``{got}``. What
is carried is a function of the library, its module, a class, an instance, or what is made of them; at the end it is
called, in one of many ways.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from textwrap import indent

from tests.flow.carrier_helpers import HELPERS

_WAYS = """
plain: {got} = {given}
tuple: {got} = (1, {given})[1]
unpacked: _, {got} = 1, {given}
starred: {got}, *_ = [{given}, 1]
rest: _, *rest = [1, {given}]; {got} = rest[0]
chained: other = {got} = {given}
annotated: {got}: object = {given}
list item: box = [{given}]; {got} = box[0]
list at a place: box = [{given}]; {got} = box[at()]
slice: {got} = [1, {given}][1:][0]
list set: box = [None]; box[0] = {given}; {got} = box[0]
slice set: box = [1]; box[0:1] = [{given}]; {got} = box[0]
appended: box = []; box.append({given}); {got} = box.pop()
extended: box = []; box.extend([{given}]); {got} = box[-1]
inserted: box = [1]; box.insert(0, {given}); {got} = box[0]
added: {got} = ([1] + [{given}])[1]
multiplied: {got} = ([{given}] * 2)[1]
copied list: {got} = [{given}].copy()[0]
deleted before: box = [1, {given}]; del box[0]; {got} = box[0]
nested list: {got} = [[{given}]][0][0]
spread list: {got} = [*[{given}]][0]
summed: {got} = sum([[{given}]], [])[0]
added tuples: {got} = ((1,) + ({given},))[1]
tuple of a list: {got} = tuple([{given}])[0]
list of an iterator: {got} = list(iter([{given}]))[0]
sorted: {got} = sorted([{given}], key=str)[0]
sorted in place: box = [{given}]; box.sort(key=str); {got} = box[0]
reversed: {got} = list(reversed([{given}]))[0]
reversed in place: box = [{given}, 1]; box.reverse(); {got} = box[1]
dict item: box = {{"a": {given}}}; {got} = box["a"]
dict under a key: box = {{"a": {given}}}; {got} = box[key()]
dict set: box = {{}}; box[1] = {given}; {got} = box[1]
dict get: {got} = {{"a": {given}}}.get("a")
dict default: {got} = {{}}.get("a", {given})
setdefault: {got} = {{}}.setdefault("a", {given})
dict pop: {got} = {{"a": {given}}}.pop("a")
pop default: {got} = {{}}.pop("a", {given})
popitem: box = {{"a": {given}}}; _, {got} = box.popitem()
updated: box = {{}}; box.update(a={given}); {got} = box["a"]
dict of keywords: {got} = dict(a={given})["a"]
dict of pairs: {got} = dict([("a", {given})])["a"]
dict of a zip: {got} = dict(zip(["a"], [{given}]))["a"]
fromkeys: {got} = dict.fromkeys(["a"], {given})["a"]
union of dicts: {got} = ({{}} | {{"a": {given}}})["a"]
spread dict: {got} = {{**{{"a": {given}}}}}["a"]
dict comprehension: {got} = {{k: v for k, v in [("a", {given})]}}["a"]
nested dict: {got} = {{"a": {{"b": [{given}]}}}}["a"]["b"][0]
values: {got} = next(iter({{"a": {given}}}.values()))
items: {got} = [v for _, v in {{"a": {given}}}.items()][0]
key of a dict: {got} = next(iter({{{given}: 1}}))
set: {got} = next(iter({{{given}}}))
set added: box = set(); box.add({given}); {got} = box.pop()
union of sets: {got} = (set() | {{{given}}}).pop()
frozen set: {got} = next(iter(frozenset([{given}])))
set comprehension: {got} = next(iter({{each for each in [{given}]}}))
for over a set: [{got}] = [each for each in {{{given}}}]
max: {got} = max([{given}], key=str)
min of arguments: {got} = min({given}, {given}, key=str)
next with a default: {got} = next(iter([]), {given})
iterator of a call: {got} = next(iter(lambda: {given}, None))
lambda: {got} = (lambda each: each)({given})
lambda default: {got} = (lambda each={given}: each)()
lambda star: {got} = (lambda *each, **more: each[0])({given})
lambda of a lambda: {got} = (lambda each: lambda: each)({given})()
conditional: {got} = {given} if at() == 0 else None
or: {got} = None or {given}
and: {got} = 1 and {given}
walrus: ({got} := {given})
walrus in a comprehension: [({got} := each) for each in [{given}]]
comprehension: {got} = [each for each in [{given}]][0]
filtered comprehension: {got} = [each for each in [None, {given}] if each is not None][0]
nested comprehension: {got} = [each for row in [[{given}]] for each in row][0]
comprehension of lambdas: {got} = [lambda each=each: each for each in [{given}]][0]()
generator: {got} = next(each for each in [{given}])
zip: {got} = list(zip([1], [{given}]))[0][1]
unzipped: {got} = [*zip(*[({given}, 1)])][0][0]
enumerate: {got} = list(enumerate([{given}]))[0][1]
map: {got} = list(map(lambda each: each, [{given}]))[0]
map of a function: {got} = next(map(same, [{given}]))
filter: {got} = list(filter(None, [{given}]))[0]
partial: {got} = functools.partial(same, {given})()
partial's keyword: {got} = functools.partial(named, each={given})()
partial's function: {got} = functools.partial({given}, 1).func
partial's arguments: {got} = functools.partial(same, {given}).args[0]
reduce: {got} = functools.reduce(lambda a, b: b, [1, {given}])
cached: {got} = functools.lru_cache(maxsize=None)(same)({given})
dispatched: {got} = functools.singledispatch(same)({given})
chain: {got} = next(itertools.chain([{given}]))
chain of iterables: {got} = next(itertools.chain.from_iterable([[{given}]]))
islice: {got} = next(itertools.islice([{given}], 1))
repeat: {got} = next(itertools.repeat({given}))
cycle: {got} = next(itertools.cycle([{given}]))
accumulate: {got} = next(itertools.accumulate([{given}], lambda a, b: b))
product: {got} = next(itertools.product([{given}], [1]))[0]
permutations: {got} = next(itertools.permutations([{given}]))[0]
takewhile: {got} = next(itertools.takewhile(lambda each: True, [{given}]))
dropwhile: {got} = next(itertools.dropwhile(lambda each: False, [{given}]))
starmap: {got} = next(itertools.starmap(same, [({given},)]))
tee: {got} = next(itertools.tee([{given}])[1])
zip longest: {got} = next(itertools.zip_longest([{given}], []))[0]
group: {got} = next(next(itertools.groupby([{given}], key=str))[1])
compress: {got} = next(itertools.compress([{given}], [1]))
itemgetter: {got} = operator.itemgetter(0)([{given}])
attrgetter: {got} = operator.attrgetter("held")(Holder({given}))
methodcaller: {got} = operator.methodcaller("give")(Holder({given}))
getitem: {got} = operator.getitem([{given}], 0)
setitem: box = {{}}; operator.setitem(box, "a", {given}); {got} = box["a"]
namespace: space = types.SimpleNamespace(held={given}); {got} = space.held
its dict: space = types.SimpleNamespace(held={given}); {got} = space.__dict__["held"]
its variables: space = types.SimpleNamespace(held={given}); {got} = vars(space)["held"]
setattr: space = types.SimpleNamespace(); setattr(space, "held", {given}); {got} = getattr(space, "held")
setattr by a name: space = types.SimpleNamespace(); setattr(space, key(), {given}); {got} = getattr(space, key())
getattr default: {got} = getattr(object(), "nothing", {given})
mapping proxy: {got} = types.MappingProxyType({{"a": {given}}})["a"]
bound by hand: {got} = types.MethodType(lambda self: self, {given})()
made class: {got} = type("Made", (), {{"held": [{given}]}}).held[0]
queue: waiting = queue.Queue(); waiting.put({given}); {got} = waiting.get()
deque: waiting = collections.deque([{given}]); {got} = waiting.popleft()
deque left: waiting = collections.deque(); waiting.appendleft({given}); {got} = waiting[0]
default dict: waiting = collections.defaultdict(list); waiting["a"].append({given}); {got} = waiting["a"][0]
default dict's factory: {got} = collections.defaultdict(lambda: {given})["a"]
ordered dict: {got} = collections.OrderedDict(a={given})["a"]
user dict: {got} = collections.UserDict({{"a": {given}}})["a"]
user list: {got} = collections.UserList([{given}])[0]
named tuple at once: {got} = collections.namedtuple("At", "once")({given}).once
chain map: {got} = collections.ChainMap({{"a": {given}}})["a"]
copy: {got} = copy.copy([{given}])[0]
deep copy: {got} = copy.deepcopy([{given}])[0]
cast: {got} = typing.cast(object, {given})
heap: {got} = heapq.nsmallest(1, [{given}], key=str)[0]
chosen: {got} = random.choice([{given}])
context variable: variable = contextvars.ContextVar("v"); variable.set({given}); {got} = variable.get()
thread local: space = threading.local(); space.held = {given}; {got} = space.held
thread: box = []; each = threading.Thread(target=box.append, args=({given},)); each.start(); each.join(); {got} = box[0]
globals: globals()["held_here"] = {given}; {got} = held_here
vars: vars(Holder)["box"].append({given}); {got} = Holder.box.pop()
function: {got} = same({given})
function twice: {got} = same(same({given}))
passed function: {got} = applied(same, {given})
keyword: {got} = named(each={given})
positional only: {got} = placed({given})
default that is overridden: {got} = optional({given})
arguments: {got} = several(1, {given})
spread arguments: {got} = several(*[1, {given}])
keywords: {got} = keyed(a={given})
spread keywords: {got} = keyed(**{{"a": {given}}})
forwarded: {got} = forwards(same, {given})
returned in a tuple: {got} = paired({given})[0]
returned in a dict: {got} = boxed({given})["a"]
recursion: {got} = again({given}, 2)
yielded: {got} = next(yields({given}))
sent on: {got} = list(sends({given}))[0]
sent in: echo = echoes(); next(echo); {got} = echo.send({given})
returned by a generator: {got} = next(returned({given}))
closure: {got} = closes({given})()
wrapped: {got} = wraps(same)({given})
decorated: {got} = decorated({given})
decorated with arguments: {got} = noted({given})
filled by a helper: box = []; fill(box, {given}); {got} = box[0]
dict filled by a helper: box = {{}}; put(box, {given}); {got} = box["a"]
registered: register({given}); {got} = REGISTRY["a"]
registered list: enlist({given}); {got} = ENLISTED[-1]
mutable default: kept({given}); {got} = kept(None)[0]
on a function: same.held = {given}; {got} = same.held
attribute: holder = Holder(); holder.held = {given}; {got} = holder.held
constructor: {got} = Holder({given}).held
constructor by name: {got} = Holder(held={given}).held
method: {got} = Holder({given}).give()
method by its class: {got} = Holder.give(Holder({given}))
bound method: give = Holder({given}).give; {got} = give()
method of a base: {got} = Below({given}).give()
super: {got} = Below({given}).above()
setter: holder = Holder(); holder.given = {given}; {got} = holder.given
property: {got} = Holder({given}).given
cached property: {got} = Holder({given}).once
class method: {got} = Holder.made({given}).held
static method: {got} = Holder.still({given})
class attribute: Holder.kept = {given}; {got} = Holder().kept
class item: Holder.shelf["a"] = {given}; {got} = Holder.shelf["a"]
item of an object: holder = Holder(); holder["a"] = {given}; {got} = holder["a"]
called object: {got} = Holder({given})()
iterated object: {got} = next(iter(Holder({given})))
stepped object: {got} = next(Steps({given}))
looped object: [{got}] = [*Steps({given})]
added object: {got} = Holder({given}) + 1
compared object: {got} = Holder({given}) @ 1
missing attribute: {got} = Dynamic({given}).anything
missing item: {got} = Missing({given})["a"]
descriptor: {got} = Described({given}).described
new: {got} = Fresh({given}).held
slots: {got} = Slotted({given}).held
chained calls: {got} = Holder().set({given}).held
held in an object in an object: {got} = Holder(Holder({given})).held.held
instance dict: {got} = Holder({given}).__dict__["held"]
entered object: {got} = Holder({given}).__enter__()
record: {got} = Record({given}).field
replaced record: {got} = dataclasses.replace(Record(None), field={given}).field
record as a tuple: {got} = dataclasses.astuple(Record([{given}]))[0][0]
record as a dict: {got} = dataclasses.asdict(Record([{given}]))["field"][0]
frozen record: {got} = Frozen({given}).field
record with a factory: each = Made(); each.box.append({given}); {got} = each.box[0]
named tuple: {got} = Pair({given}, 1).first
named tuple's item: {got} = Pair({given}, 1)[0]
named tuple unpacked: {got}, _ = Pair({given}, 1)
named tuple replaced: {got} = Pair(None, 1)._replace(first={given}).first
context: {got} = contextlib.nullcontext({given}).__enter__()
stack: {got} = contextlib.ExitStack().enter_context(contextlib.nullcontext({given}))
executor: {got} = concurrent.futures.ThreadPoolExecutor(1).submit(same, {given}).result()
executor's map: {got} = list(concurrent.futures.ThreadPoolExecutor(1).map(same, [{given}]))[0]
future: each = concurrent.futures.Future(); each.set_result({given}); {got} = each.result()
coroutine: {got} = asyncio.run(later({given}))
awaited in a coroutine: {got} = asyncio.run(waits({given}))
gathered: {got} = asyncio.run(gathers({given}))[0]
task: {got} = asyncio.run(starts({given}))
asynchronous for: {got} = asyncio.run(loops({given}))
asynchronous with: {got} = asyncio.run(enters({given}))
asynchronous comprehension: {got} = asyncio.run(comprehends({given}))[0]
evaluated: {got} = eval("each", {{"each": {given}}})
unwrapped: {got} = inspect.unwrap({given})
"""

_BLOCKS = {
    "loop": "for {got} in [{given}]:\n    break",
    "loop else": "for _ in []:\n    pass\nelse:\n    {got} = {given}",
    "loop over items": 'for _, {got} in {{"a": {given}}}.items():\n    pass',
    "loop over two": "for _, {got} in zip([1], [{given}]):\n    pass",
    "loop that counts": "for _, {got} in enumerate([{given}]):\n    pass",
    "loop that collects": "box = []\nfor each in [{given}]:\n    box.append(each)\n{got} = box[0]",
    "loop into a dict": 'box = {{}}\nfor name, each in [("a", {given})]:\n    box[name] = each\n{got} = box["a"]',
    "loop into an attribute": "holder = Holder()\nfor holder.held in [{given}]:\n    pass\n{got} = holder.held",
    "while": "while True:\n    {got} = {given}\n    break",
    "while that pops": "waiting = [{given}]\nwhile waiting:\n    {got} = waiting.pop()",
    "with": "with contextlib.nullcontext({given}) as {got}:\n    pass",
    "two withs": "with contextlib.nullcontext(1) as _, contextlib.nullcontext({given}) as {got}:\n    pass",
    "own manager": "with managed({given}) as {got}:\n    pass",
    "object's manager": "with Holder({given}) as {got}:\n    pass",
    "exit stack": "with contextlib.ExitStack() as stack:\n    {got} = stack.enter_context(managed({given}))",
    "suppressed": "with contextlib.suppress(KeyError):\n    {got} = {given}",
    "try": "try:\n    raise KeyError({given})\nexcept KeyError as error:\n    {got} = error.args[0]",
    "own exception": "try:\n    raise Carrying({given})\nexcept Carrying as error:\n    {got} = error.held",
    "raised by a helper": "try:\n    throws({given})\nexcept Carrying as error:\n    {got} = error.held",
    "cause": "try:\n    raise OSError from Carrying({given})\nexcept OSError as e:\n    {got} = e.__cause__.held",
    "try else": "try:\n    pass\nexcept KeyError:\n    pass\nelse:\n    {got} = {given}",
    "handler": "try:\n    raise KeyError\nexcept KeyError:\n    {got} = {given}",
    "finally": "try:\n    pass\nfinally:\n    {got} = {given}",
    "stop": "try:\n    next(ends({given}))\nexcept StopIteration as stop:\n    {got} = stop.value",
    "if": "if at() == 0:\n    {got} = {given}\nelse:\n    {got} = None",
    "if not": "{got} = None\nif {got} is None:\n    {got} = {given}",
    "match": "match [{given}]:\n    case [{got}]:\n        pass",
    "match star": "match [1, {given}]:\n    case [_, *rest]:\n        {got} = rest[0]",
    "match as": "match {given}:\n    case {got}:\n        pass",
    "match mapping": 'match {{"a": {given}}}:\n    case {{"a": {got}}}:\n        pass',
    "match rest": 'match {{"a": {given}}}:\n    case {{**rest}}:\n        {got} = rest["a"]',
    "match class": "match Record({given}):\n    case Record(field={got}):\n        pass",
    "match by place": "match Record({given}):\n    case Record({got}):\n        pass",
    "match guard": "match [{given}]:\n    case [{got}] if at() == 0:\n        pass",
    "nested": "def inner():\n    return {given}\n{got} = inner()",
    "nested default": "def inner(each={given}):\n    return each\n{got} = inner()",
    "nested twice": "def outer():\n    def inner():\n        return {given}\n    return inner\n{got} = outer()()",
    "nested generator": "def inner():\n    yield {given}\n{got} = next(inner())",
    "nested coroutine": "async def inner():\n    return {given}\n{got} = asyncio.run(inner())",
    "nested decorator": "@wraps\ndef inner():\n    return {given}\n{got} = inner()",
    "nonlocal": "{got} = None\ndef inner(each):\n    nonlocal {got}\n    {got} = each\ninner({given})",
    "global": "global held\nheld = {given}\n{got} = held",
    "class body": "class Local:\n    held = staticmethod({given})\n{got} = Local.held",
    "class body's list": "class Local:\n    held = [{given}]\n{got} = Local.held[0]",
    "local class": "class Local:\n    def give(self):\n        return {given}\n{got} = Local().give()",
    "local subclass": "class Local(Holder):\n    kept = [{given}]\n{got} = Local().kept[0]",
    "class in a class": "class Local:\n    class Inner:\n        held = [{given}]\n{got} = Local.Inner.held[0]",
    "enumeration": "class Kind(enum.Enum):\n    A = ({given},)\n{got} = Kind.A.value[0]",
    "augmented": "box = []\nbox += [{given}]\n{got} = box[0]",
    "augmented dict": 'box = {{}}\nbox |= {{"a": {given}}}\n{got} = box["a"]',
    "deleted": "{got} = {given}\nother = {got}\ndel {got}\n{got} = other",
}

CARRIERS = {
    **{name: "\n".join(part.strip() for part in text.split("; ")) for name, _, text in
       (line.partition(": ") for line in _WAYS.strip().splitlines())},
    **_BLOCKS,
}  # fmt: skip

THINGS = {
    "function": ("comm.fuse", "{it}"),
    "function by name": ('getattr(comm, "fuse")', "{it}"),
    "module": ("comm", "{it}.fuse"),
    "class": ("comm.Workspace", "{it}"),
    "instance": ("comm.create(1, 0)", "{it}.fits"),
    "bound method": ("comm.create(1, 0).fits", "{it}"),
    "partial": ("functools.partial(comm.fuse, x)", "{it}"),
    "lambda": ("lambda *a: comm.fuse(*a)", "{it}"),
    "own function": ("calls", "{it}"),
}
"""What is carried, and what of it is called."""

CALLS = {
    "plain": "return {it}(x, 1)",
    "spread": "return {it}(*[x, 1])",
    "by hand": "return {it}.__call__(x, 1)",
    "partial": "return functools.partial({it}, x)(1)",
    "lambda": "return (lambda: {it}(x, 1))()",
    "comprehension": "return [{it}(x, each) for each in [1]]",
    "generator": "return list({it}(x, each) for each in [1])",
    "map": "return list(map({it}, [x], [1]))",
    "starmap": "return list(itertools.starmap({it}, [(x, 1)]))",
    "reduce": "return functools.reduce({it}, [x, 1])",
    "key": "return sorted([x], key={it})",
    "max": "return max([x, x], key={it})",
    "filter": "return list(filter({it}, [x]))",
    "cached": "return functools.lru_cache({it})(x, 1)",
    "submitted": "return concurrent.futures.ThreadPoolExecutor(1).submit({it}, x, 1).result()",
    "helper": "return applied({it}, x)",
    "forwarded": "return forwards({it}, x, 1)",
    "argument of a method": "return Holder(x).visit({it})",
    "attribute": "holder = Holder()\nholder.action = {it}\nreturn holder.action(x, 1)",
    "method": "return Acts({it}).act(x)",
    "default": "def inner(x, each={it}):\n    return each(x, 1)\nreturn inner(x)",
    "decorator": "@{it}\ndef inner():\n    pass\nreturn inner",
    "factory": 'return collections.defaultdict({it})["a"]',
    "sentinel": "return next(iter({it}, 1))",
    "callback": "with contextlib.ExitStack() as stack: stack.callback({it}, x, 1)",
    "coroutine": "async def inner():\n    return {it}(x, 1)\nreturn asyncio.run(inner())",
    "to a thread": "async def inner():\n    return await asyncio.to_thread({it}, x, 1)\nreturn asyncio.run(inner())",
    "handler": "try:\n    raise KeyError\nexcept KeyError:\n    return {it}(x, 1)",
    "short circuit": "return {it} and {it}(x, 1)",
    "walrus": "return each(x, 1) if (each := {it}) else None",
    "in a set": "return {{each(x, 1) for each in {{{it}}}}}",
    "text": 'return f"{{{it}(x, 1)}}"',
    "done": "each = concurrent.futures.Future()\neach.set_result(x)\neach.add_done_callback(lambda done: {it}(x, 1))",
    "substituted": 'return re.sub("a", lambda found: str({it}(x, 1)), "a")',
}

_IMPORTS = [
    "asyncio",
    "collections",
    "concurrent.futures",
    "contextlib",
    "contextvars",
    "copy",
    "dataclasses",
    "enum",
    "functools",
    "heapq",
    "inspect",
    "itertools",
    "operator",
    "queue",
    "random",
    "re",
    "sys",
    "threading",
    "types",
    "typing",
    "weakref",
]


def _definitions() -> dict[str, str]:
    parts = re.split(r"\n\n\n(?=\S)", HELPERS.strip("\n"))
    found = {}
    for part in parts:
        name = re.search(r"^(?:async def|def|class) (\w+)|^(\w+) =", part, re.MULTILINE)
        assert name is not None
        found[name[1] or name[2]] = part
    return found


_DEFINITIONS = _definitions()
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Carried:
    """A program that carries something of the library along some ways and calls it."""

    name: str
    text: str


def carried(*ways: str, thing: str = "function", call: str = "plain", split: bool = False) -> Carried:
    """The program of these ways, one after the other; `split` puts each into a function of its own."""
    given, called = THINGS[thing]
    blocks: list[str] = []
    functions: list[str] = []
    for i, way in enumerate(ways):
        got = f"got_{i}"
        if split:
            body = CARRIERS[way].format(given="each", got=got) + f"\nreturn {got}"
            functions.append(f"def step_{i}(each, x):\n{indent(body, '    ')}\n")
            given = f"step_{i}({given}, x)"
        else:
            blocks.append(CARRIERS[way].format(given=given, got=got))
            given = got
    if split or not ways:
        blocks.append(f"got = {given}")
        given = "got"
    blocks.append(CALLS[call].format(it=called.format(it=given)))
    run = "\n\n".join([*functions, f"def run(x):\n{indent(chr(10).join(blocks), '    ')}\n"])
    return Carried(" then ".join([thing, *ways, call]) + (" in functions" if split else ""), with_helpers(run))


def with_helpers(text: str) -> str:
    """The text as a file, with the imports, functions and classes that it mentions."""
    needed: dict[str, None] = {}
    waiting = [text]
    while waiting:
        for word in _WORD.findall(waiting.pop()):
            if word in _DEFINITIONS and word not in needed:
                needed[word] = None
                waiting.append(_DEFINITIONS[word])
    parts = [_DEFINITIONS[name] for name in _DEFINITIONS if name in needed]
    body = "\n\n\n".join([*parts, text])
    words = set(_WORD.findall(body))
    imports = ", ".join(name for name in _IMPORTS if name.partition(".")[0] in words)
    return (f"import {imports}\n\n" if imports else "") + f"import lib.comm as comm\n\n\n{body}"


def some(seed: int, number: int) -> list[Carried]:
    """Programs of several ways, chosen by chance."""
    chance = random.Random(seed)
    names, things, calls = sorted(CARRIERS), sorted(THINGS), sorted(CALLS)
    return [
        carried(
            *chance.choices(names, k=chance.choice((1, 2, 2, 3, 4))),
            thing=chance.choice(things),
            call=chance.choice(calls),
            split=chance.random() < 0.3,
        )
        for _ in range(number)
    ]
