"""snapshots/ <-> histories: the files in which the API of all releases is kept.

Enters and leaves: a `History` and the record of each release. It imports `model` alone.
"""
