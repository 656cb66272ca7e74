"""The interpreter, on small programs whose meaning a person can see, and its parts by themselves."""
