"""The tests of driftwatch."""
