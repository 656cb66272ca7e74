"""What is known of a library's API: the symbols of one release, and their lives over all releases.

Enters: facts. Leaves: `Snapshot`, `History` and their canonical text. Nothing here reads files, the network or sources;
it imports no other room of `snapshot/`.
"""
