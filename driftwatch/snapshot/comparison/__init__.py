"""What changes between releases, graded by what it does to callers.

Enters: snapshots, or a history. Leaves: changes as data; nothing is rendered. It imports `model` alone.
"""
