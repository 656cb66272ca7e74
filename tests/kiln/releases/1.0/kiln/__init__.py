"""Fires pots: release 1.0 of the library that the examples of the rules are written against."""

import abc
import enum
from typing import Literal

from thermometer import Thermometer

MAX_HEAT = 900
METER = Thermometer()


class Glaze(enum.IntEnum):
    CLEAR = 0
    CELADON = 1


class Shelf(abc.ABC):
    def add(self, pot): ...


class WoodShelf(Shelf):
    def add(self, pot): ...


class Burner(abc.ABC):
    @abc.abstractmethod
    def ignite(self, fuel): ...

    def adjust(self, level): ...


def fire(pot, minutes): ...


def mould(clay, size): ...


def stack(pot, shelf, height=1): ...


def paint(pot, brush, colour="white"): ...


def wash(pot, degrees): ...


def cool(pot, slow=False): ...


def raku(pot): ...


def coat(pot, glaze: Glaze): ...


def open_shelf(wood) -> Shelf:
    return WoodShelf()


def glow(pot, mode=0): ...


def dry(pot, how: Literal["air", "oven"] = "air"): ...


def weigh(pot):
    return pot.mass, pot.wet


def spin(clay): ...


def mark(pot): ...


def stamp(pot): ...
