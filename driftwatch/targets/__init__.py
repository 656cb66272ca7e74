"""Libraries that driftwatch comes with, one folder each, and what a target is; nothing else knows a library by name."""
