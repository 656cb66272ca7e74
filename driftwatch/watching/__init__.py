"""What came out upstream, and which call sites that breaks.

Enters: targets and code bases. Leaves: the news of each library, and a scan of each code base against it.
"""
