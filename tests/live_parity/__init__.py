"""Snapshots held against what a real import of the same release shows."""
