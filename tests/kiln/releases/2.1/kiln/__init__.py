"""Fires pots: release 2.1 of the library that the examples of the rules are written against."""

import abc
import enum
from typing import Literal

from thermometer import LazyThermometer

MAX_HEAT = 1300
METER = LazyThermometer()


class Glaze(enum.IntEnum):
    CLEAR = 0
    CELADON = 2
    COBALT = 1


class Shelf(abc.ABC):
    def add(self, pot): ...


class WoodShelf(Shelf):
    def add(self, pot): ...

    def wax(self): ...


class Burner(abc.ABC):
    @abc.abstractmethod
    def ignite(self, fuel): ...

    def adjust(self, level, smooth): ...

    @abc.abstractmethod
    def shutdown(self): ...


def fire(pot, minutes, glaze=None, *, heat=900): ...


def mould(clay, size=10): ...


def stack(pot, shelf, *, height=1): ...


def paint(pot, brush, primer=True, colour="white"): ...


def wash(pot, temperature): ...


def cool(pot, slow=True): ...


def coat(pot, glaze: Glaze): ...


def open_shelf(wood) -> Shelf:
    return WoodShelf()


def glow(pot, mode=0):
    if mode not in (0, 1):
        raise ValueError(mode)


def dry(pot, how: Literal["air", "oven", "microwave"] = "air"): ...


def weigh(pot):
    return pot.mass, pot.wet, pot.dry


def stamp(pot): ...
