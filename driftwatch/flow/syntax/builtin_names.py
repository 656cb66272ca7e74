"""The names every module can use without importing them."""

from __future__ import annotations

import builtins

BUILTIN_NAMES = frozenset(dir(builtins)) | {"WindowsError", "ExceptionGroup", "BaseExceptionGroup"}
