"""Which files can matter, and what need not be done again.

Enters: the files of a code base, as bytes. Leaves: `Files`, which finds modules and definitions; the survey of
each file and the names in it that lead to the library. A byte search and an outline choose; the results cache
and the process that reads ahead save time. Whatever is left out changes no use: that is the law for every part
of this room.

May import: `syntax` and `domain`, for the modules of the code base. Never the interpreter.
"""
