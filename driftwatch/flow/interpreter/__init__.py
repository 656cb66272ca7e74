"""The abstract interpreter: Python's grammar as transfer functions over a `Run`.

Enters: modules and functions of the code base, and the state in which they are entered. Leaves: uses in the
recorder, and what each module and function came to. `statements`, `expressions`, `conditions` and `calls` are
the grammar; `functions`, `classes` and `objects` follow calls; `modules` and `entries` decide what is executed
and when it has to be done again.

The parts need each other: an expression calls, a call executes statements. They reach each other through
`world.Semantics` alone, and the models of known functions through `registry`, so that imports lead one way. The
one circle is in the types: `Run` knows the `World` it runs in.

May import: `sources`, `domain`, `syntax`. Never `models`.
"""
