"""What a release's public API is: collected without running it, stored canonically, compared over time.

The rooms, from the bottom up: `model`, then `comparison`, `sources` and `store`, then `collect`, then `commands`.
"""
