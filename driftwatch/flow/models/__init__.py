"""What known functions and types do: Python's own, and those of a few packages.

Enters: the import path of a function of Python or of a well-known package, and the call's arguments. Leaves:
the value of the call, and its effect on the state. Each model is a function over a `Run`, found by its import
path in one table (`models.MODELS`); to add one, write the function, add its row, and add a marked program to
`tests/flow/programs`.

May import: the interpreter and everything below it. The interpreter finds a model through `world.Semantics`.
"""
