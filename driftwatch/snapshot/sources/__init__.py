"""Where the sources of a release come from: the package index, git, a folder, or what is installed.

Enters: what a person wrote. Leaves: a `SourceTree`, checked against its hashes. Nothing is ever imported or run. It
knows nothing of symbols, and imports no other room of `snapshot/`.
"""
