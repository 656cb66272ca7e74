"""The functions and classes that the programs of carriers are made with, as source."""

from __future__ import annotations

HELPERS = """
def at():
    return len("")


def key():
    return "".join("a")


def same(each):
    return each


def applied(function, each):
    return function(each)


def named(*, each):
    return each


def placed(each, /):
    return each


def optional(each=None):
    return each


def several(*each):
    return each[1]


def keyed(**each):
    return each["a"]


def forwards(function, *args, **kwargs):
    return function(*args, **kwargs)


def paired(each):
    return each, 1


def boxed(each):
    return {"a": each}


def again(each, times):
    return each if times == 0 else again(each, times - 1)


def yields(each):
    yield each


def sends(each):
    yield from [each]


def echoes():
    each = yield
    yield each


def ends(each):
    return each
    yield


def returned(each):
    found = yield from ends(each)
    yield found


def closes(each):
    def inner():
        return each

    return inner


def wraps(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@wraps
def decorated(each):
    return each


def note(text):
    def decorator(function):
        return wraps(function)

    return decorator


@note("noted")
def noted(each):
    return each


def fill(box, each):
    box.append(each)


def put(box, each):
    box["a"] = each


REGISTRY = {}


def register(each):
    REGISTRY["a"] = each


ENLISTED = []


def enlist(each):
    ENLISTED.append(each)


def kept(each, box=[]):
    if each is not None:
        box.append(each)
    return box


@contextlib.contextmanager
def managed(each):
    yield each


class Carrying(Exception):
    def __init__(self, held):
        super().__init__("carries")
        self.held = held


def throws(each):
    raise Carrying(each)


def calls(*args):
    return comm.fuse(*args)


class Holder:
    box = []
    shelf = {}

    def __init__(self, held=None):
        self.held = held
        self.items = {}

    def give(self):
        return self.held

    def set(self, held):
        self.held = held
        return self

    def visit(self, visitor):
        return visitor(self.held, 1)

    @property
    def given(self):
        return self.held

    @given.setter
    def given(self, value):
        self.held = value

    @functools.cached_property
    def once(self):
        return self.held

    @classmethod
    def made(cls, held):
        return cls(held)

    @staticmethod
    def still(each):
        return each

    def __call__(self):
        return self.held

    def __iter__(self):
        return iter([self.held])

    def __enter__(self):
        return self.held

    def __exit__(self, *error):
        return None

    def __add__(self, other):
        return self.held

    def __matmul__(self, other):
        return self.held

    def __setitem__(self, name, value):
        self.items[name] = value

    def __getitem__(self, name):
        return self.items[name]


class Below(Holder):
    def above(self):
        return super().give()


class Acts:
    def __init__(self, action):
        self._action = action

    def act(self, x):
        return self._action(x, 1)


class Steps:
    def __init__(self, held):
        self.left = [held]

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        return self.left.pop()


class Dynamic:
    def __init__(self, held):
        self.held = held

    def __getattr__(self, name):
        return self.held


class Missing(dict):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def __missing__(self, name):
        return self.held


class Describes:
    def __get__(self, instance, owner):
        return instance.held


class Described:
    described = Describes()

    def __init__(self, held):
        self.held = held


class Fresh:
    def __new__(cls, held):
        self = super().__new__(cls)
        self.held = held
        return self


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


@dataclasses.dataclass
class Record:
    field: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    field: object


@dataclasses.dataclass
class Made:
    box: list = dataclasses.field(default_factory=list)


class Pair(typing.NamedTuple):
    first: object
    second: int


async def later(each):
    return each


async def waits(each):
    return await later(each)


async def gathers(each):
    return await asyncio.gather(later(each))


async def starts(each):
    return await asyncio.create_task(later(each))


async def gives(each):
    yield each


async def loops(each):
    async for found in gives(each):
        return found


@contextlib.asynccontextmanager
async def holds(each):
    yield each


async def enters(each):
    async with holds(each) as found:
        return found


async def comprehends(each):
    return [found async for found in gives(each)]
"""
