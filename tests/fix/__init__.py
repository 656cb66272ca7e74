"""Repairs: what they look like, that they are right, and that nothing else changes."""
