"""The abstract domain: values, states and their joins, exceptions, and the code base's own functions and classes.

Enters and leaves: data. A `Value` is a list of alternatives, each with the releases in which it holds; a
`State` is the releases in which a point is reached, its variables and its heap. The operations are those of a
lattice: join, restrict, and fork. `target` is what the domain knows of the library; `recorder` collects the
uses.

May import: `syntax`. Never the interpreter: nothing here executes anything.
"""
