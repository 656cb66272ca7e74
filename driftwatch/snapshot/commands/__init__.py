"""What people do with snapshots: add, update, verify, and make the history of a library nobody has set up.

Enters: a target and what is asked for. Leaves: data about what was done; nothing is printed. It stands on
all other rooms.
"""
