"""What driftwatch asks of the machine: files, read and written safely, and other programs.

Enters: paths, bytes, commands. Leaves: text, tables and files that are whole, or one sentence about what is wrong.
May import: the standard library, `errors`, and what reads TOML; nothing that knows of releases or of code bases.
"""
