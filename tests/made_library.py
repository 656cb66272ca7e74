"""A small library that has, on purpose, every shape that makes an API hard to see from its sources.

It is written to a folder and can be imported for real: `files()` says what is in it. It needs nothing but Python.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

FILES = {
    "kiln/__init__.py": """
        '''Fires pots.'''
        import contextlib
        import json
        from typing import TYPE_CHECKING, Optional

        from .clay import Clay as Clay
        from .fire import fire as fire, Program
        from .glaze import *
        from .old import slab_roll as roll
        from .shelf import open_shelf

        if TYPE_CHECKING:
            from decimal import Decimal

        with contextlib.suppress(ImportError):
            from .gas import burner as burner

        try:
            import lava_rocks_that_nobody_has as rocks
        except ImportError:
            rocks = None

        try:
            from .electric import element
        except ImportError:
            pass

        __version__ = "1.2.3"
        CONES = (6, 10)
        hottest = max_cone = 14
        _secret = "reduction"
        a, b = 1, "two"
        for index in range(3):
            pass
        del index
        temporary = 1
        del temporary
        counter = 0


        def bump():
            global counter
            counter += 1


        def __getattr__(name):
            if name == "wheel":
                from .wheel import wheel

                return wheel
            if name in _LAZY:
                import importlib

                return getattr(importlib.import_module(_LAZY[name], __name__), name)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


        _LAZY = {"sieve": ".tools", "Bat": ".tools"}
    """,
    "kiln/clay.py": """
        import abc
        import enum
        from dataclasses import KW_ONLY, InitVar, dataclass, field
        from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

        T = TypeVar("T")


        class Base:
            shelf_life: int = 10
            unset: str

            def __init__(self, mass, *, wet=True):
                self.mass = mass
                self._wet = wet
                self.tags: list[str] = []

            def knead(self, times=3, /, *hands, speed: float = 1.0, **more) -> "Base":
                self.kneaded = times
                return self

            @property
            def volume(self) -> float:
                return self.mass * 0.5

            @volume.setter
            def volume(self, value):
                self.mass = value * 2

            @classmethod
            def scrap(cls, count=1):
                made = cls(count)
                made.recycled = True
                return made

            @staticmethod
            def weigh(thing, unit="kg"):
                return 1

            class Inner:
                depth = 3

                def dig(self, how=None):
                    return how


        class Clay(Base):
            knead_well = Base.knead

            def soak(self, hours):
                return hours

            soften = soak


        class Slip(Clay):
            def __new__(cls, mass, thinner="water"):
                return super().__new__(cls)

            def __init__(self, *args, **kwargs):
                super().__init__(*args)


        class Diamond(Clay, Base):
            pass


        class Cone(enum.IntEnum):
            LOW = 1
            MID = enum.auto()
            HIGH = 3
            TOP = HIGH

            @property
            def hot(self):
                return self > 1


        class Stage(enum.Flag):
            BISQUE = enum.auto()
            GLAZE = enum.auto()


        class Point(NamedTuple):
            x: int
            y: int = 0

            def norm(self, power=2):
                return self.x + self.y


        class FarPoint(Point):
            def far(self):
                return True


        @dataclass
        class Pot:
            name: str
            size: int = 1
            marks: list = field(default_factory=list)
            made: ClassVar[int] = 0
            hidden: int = field(default=0, init=False)
            clay: InitVar[str] = "stoneware"
            _: KW_ONLY
            signed: bool = False


        @dataclass(repr=False)
        class LidPot(Pot):
            size: int = 2
            lid: bool = True


        @dataclass(kw_only=True)
        class Tile:
            width: int
            height: int = 5


        @dataclass(init=False)
        class Shard:
            edge: int = 0


        class Firing(abc.ABC):
            @abc.abstractmethod
            def start(self, cone: int): ...

            @property
            @abc.abstractmethod
            def hot(self): ...

            def stop(self):
                return None


        class Shaped(Protocol):
            def shape(self, form: str) -> None: ...


        class Box(Generic[T]):
            def put(self, item: T, *, top=False) -> "Box[T]":
                return self


        class Broken(RuntimeError):
            def __init__(self, where, why=None):
                super().__init__(where)
                self.where = where


        class Cracked(RuntimeError):
            pass
    """,
    "kiln/fire.py": """
        import functools
        import warnings


        def logged(function=None, *, level=0):
            def decorate(inner):
                @functools.wraps(inner)
                def wrapper(*args, verbose=False, **kwargs):
                    kwargs.pop("trace", None)
                    return inner(*args, **kwargs)

                return wrapper

            return decorate(function) if function is not None else decorate


        def renamed_arguments(**names):
            def decorate(inner):
                @functools.wraps(inner)
                def wrapper(*args, **kwargs):
                    for old, new in names.items():
                        if old in kwargs:
                            kwargs[new] = kwargs.pop(old)
                    return inner(*args, **kwargs)

                return wrapper

            return decorate


        @logged
        def fire(pot, minutes: int = 30, *, cone=6, atmosphere: "str | None" = None):
            return pot


        @logged(level=2)
        def refire(pot, minutes):
            return pot


        @renamed_arguments(temp="temperature")
        def soak(temperature, minutes=5):
            return temperature


        def raku(pot):
            warnings.warn("raku is deprecated and will be removed in 2.0; use fire", DeprecationWarning, stacklevel=2)
            return pot


        try:
            from ._fast import cool
        except ImportError:

            def cool(pot, slowly=True):
                return pot


        if hasattr(functools, "surely_not"):

            def choose(a, b):
                return a

        else:

            def choose(a, c):
                return a


        class Program:
            def run(self, pot, *steps):
                return self

            def then(self, other: "Program | None" = None) -> "Program | None":
                return other

            async def later(self) -> "Program":
                return self
    """,
    "kiln/_fast.py": """
        def cool(pot, slowly=True, *, fan=None):
            return pot
    """,
    "kiln/glaze.py": """
        import os
        from collections import namedtuple

        __all__ = ["celadon", "Recipe", "TENMOKU"]
        __all__ += ["shino"]

        TENMOKU = "iron"
        Recipe = namedtuple("Recipe", "name parts")


        def celadon(*, iron=0.02):
            return iron


        def shino(feldspar):
            return feldspar


        def unlisted():
            return os
    """,
    "kiln/old.py": """
        def slab_roll(thickness, /, width=10):
            return thickness
    """,
    "kiln/gas.py": """
        import a_gas_main_that_nobody_has


        def burner(pressure):
            return pressure
    """,
    "kiln/electric.py": """
        def element(watts):
            return watts
    """,
    "kiln/tools.py": """
        def sieve(mesh=80):
            return mesh


        class Bat:
            def __init__(self, diameter):
                self.diameter = diameter
    """,
    "kiln/wheel/__init__.py": """
        from .wheel import throw
        from .wheel import wheel as wheel

        CHOICES = {"slow": 1, "fast": 2}
        _NAMES = frozenset({"kick", "treadle"})


        def __getattr__(name):
            if name not in _NAMES:
                raise AttributeError(name)
            from . import wheel_parts

            value = getattr(wheel_parts, name)
            globals()[name] = value
            return value
    """,
    "kiln/wheel/wheel.py": """
        def wheel(speed=100):
            return speed


        def throw(clay, *, centred):
            return clay
    """,
    "kiln/wheel/wheel_parts.py": """
        kick = "foot"


        def treadle(weight):
            return weight
    """,
    "kiln/shelf.py": """
        from .clay import Base as _Base


        class Shelf(_Base):
            limit = 12
            alias = limit

            def __init__(self, wood="oak"):
                super().__init__(1)
                object.__setattr__(self, "boards", 3)
                self.left, self.right = 1, 2

            def clear(self): ...

            def __enter__(self):
                return self

            def __exit__(self, *error):
                return None


        class Forwarding:
            def __init__(self):
                self._shelf = Shelf()

            def __getattr__(self, name):
                return getattr(self._shelf, name)


        class Anything:
            def __getattr__(self, name):
                return name


        def open_shelf(wood="oak") -> Shelf:
            return Shelf(wood)


        def labelled_shelf(label):
            shelf = Shelf()
            shelf.label = label
            return shelf


        def any_shelf(which) -> "Shelf | None":
            return None


        def shelf_or_name(which) -> "Shelf | str":
            return "none"
    """,
    "kiln/open.py": """
        import math as _math


        def __getattr__(name):
            return getattr(_math, name)
    """,
}


def write(folder: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the library into a folder; `changes` replace files or add to them."""
    for path, text in {**FILES, **(changes or {})}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder
