"""What an environment has, whether the library's accelerated path can run in it, and what mends it where it cannot."""
