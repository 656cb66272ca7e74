"""What a code base does with a library's API: source text in, uses out. Never judges; the only folder with libcst."""
