"""The errors a user can do something about: each is one clear sentence and, where there is one, a way out.

Anything else that reaches the command line is a defect of driftwatch and is shown as such.
"""

from __future__ import annotations


class DriftwatchError(Exception):
    """A failure the user can act on: `message` is one sentence, `hint` says what to do about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(DriftwatchError):
    """What was asked for makes no sense: an unknown release, symbol or option value."""


class ConfigError(DriftwatchError):
    """The configuration is not valid: unknown key, wrong type, unreadable file."""


class InputError(DriftwatchError):
    """What should be read is not there or cannot be read: a path, a distribution, a file."""


class SnapshotError(DriftwatchError):
    """A stored snapshot is missing or damaged, or a source tree could not be turned into one."""


class NoModuleError(SnapshotError):
    """A release does not have the module that is watched: there is nothing of it to be recorded."""


class IndexUnavailableError(DriftwatchError):
    """The package index cannot be reached, or does not have what was asked of it."""
