"""What known functions and types do: Python's own, and those of a few packages.

Enters: the qualified name of a function, method or attribute of Python or of a well-known package, and the call's
arguments. Leaves: the value of the call, and its effect on the state. Each model is a function over a `Run` with its
name over it (`driftwatch.flow.interpreter.registry`); every module here is imported, so that a new model is one new
file. What a module has as ``EXAMPLES`` are marked programs, which the tests analyse, and let Python execute.

May import: the interpreter and everything below it. The interpreter finds a model through its registry.
"""
