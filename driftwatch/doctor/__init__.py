"""What an environment has, whether the library's accelerated path can run in it, and what fixes it where it cannot."""
