"""Source text as libcst nodes with their places, and what a file defines at a glance.

Enters: the bytes of a file. Leaves: the text as Python decodes it, a `Survey` of its definitions, and a `Tree`
of the nodes that libcst's own parser would make, built from what `ast` has parsed. Nothing here knows of
releases or libraries.

May import: `flow.uses`, for locations and steps.
"""
