"""The sources of one release -> its `Snapshot`.

Enters: a `SourceTree`. Leaves: every public symbol with its facts. `reader` is the only importer of griffe. It imports
`model`, and of `sources` only what a tree is.
"""
