"""What a project says of itself: configuration, files, requirements, and the range that follows from them.

Enters: paths. Leaves: a `Config`, the Python files of a scan, every requirement with its place, and the checked
range with the reason for it. Nothing here knows what the code does.
"""
