"""Which releases of a library does this code break in, where, why, and would anybody notice?"""

__version__ = "0.1.0"
