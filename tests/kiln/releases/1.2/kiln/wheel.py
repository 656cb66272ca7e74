"""The potter's wheel."""


def throw(clay, speed=60): ...


def spin(clay): ...
