"""The adapter itself.

Every function bound, one report of it all, and the rest of the library passed through.

Enters: plain data made from the snapshots and the policy, and the target's own
conditions. Leaves: an `Adapter`. Making one never raises because of what is installed.
This module and those it imports use nothing but the standard library, and stand in the
generated file as they are here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from driftwatch.adapter.binding import (
    ADAPTED,
    MISSING,
    Binding,
    bind,
    bind_member,
    finish_class,
)
from driftwatch.adapter.installed import Installed, find_installed
from driftwatch.adapter.rules import Condition, read_rules, span
from driftwatch.adapter.settler import Record
from driftwatch.adapter.signatures import recorded


class Adapter:
    """All functions and classes of the library the adapter was made for, bound to what
    is installed.
    """

    def __init__(
        self, data: Mapping[str, Any], conditions: Mapping[str, Condition] | None = None
    ) -> None:
        self.data = data
        self.sections: dict[str, Callable[[], Any]] = {}
        """Further parts of the report, each made when it is asked for."""
        releases: tuple[str, ...] = tuple(data["releases"])
        self.target: Mapping[str, Any] = _spelled_out(data["target"], releases)
        self.installed: Installed = find_installed(
            data["distribution"], data["module"], releases, data["companions"]
        )
        self.bindings: dict[str, Binding] = {}
        for name, record in data["functions"].items():
            shapes = tuple(
                (span(held, releases), recorded(row))
                for held, row in record["signatures"]
            )
            known = Record(
                name,
                releases,
                shapes,
                read_rules(record["rules"], releases),
                record["is_class"],
            )
            owner = self.bindings.get(name.rpartition(".")[0])
            if owner is None:
                self.bindings[name] = bind(known, self.installed, conditions or {})
            else:
                self.bindings[name] = bind_member(
                    known, owner, self.installed, conditions or {}
                )
        for name, record in data["functions"].items():
            if record["is_class"]:
                members = [
                    b
                    for other, b in self.bindings.items()
                    if other.startswith(f"{name}.")
                ]
                finish_class(self.bindings[name], members)
        self._log_findings()

    def function(self, name: str) -> Callable[..., Any]:
        """What to call for a name.

        The library's own function, a wrapper, or one that says why there is none.
        """
        return self.bindings[name].function

    def available(self, name: str) -> bool:
        """Whether the installed build has a name, bound here or not, so that using it
        can work.
        """
        binding = self.bindings.get(name)
        if binding is not None:
            return binding.state != MISSING
        try:
            self.attribute(name)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:
            # A lazy attribute may import on first use, and an import can even exit
            return False
        return True

    def attribute(self, name: str) -> Any:
        """Any other name of the library, as it is in the installed build.

        AttributeError says why it is absent.
        """
        if name.startswith("__") or self.installed.module is None:
            raise AttributeError(
                f"{name} is not available: {self.installed.error or 'no such name'}"
            )
        return getattr(self.installed.module, name)

    def report(self) -> dict[str, Any]:
        """Everything that was found and decided, as plain data."""
        found = self.installed
        functions = {
            name: {
                "state": b.state,
                "evidence": b.evidence,
                "why": b.why,
                "lacks": {
                    parameter: list(words) for parameter, words in b.lacks.items()
                },
                "drift": list(b.drift),
                "refused": dict(b.refused),
            }
            for name, b in self.bindings.items()
        }
        report: dict[str, Any] = {
            "made_from": {
                "distribution": self.data["distribution"],
                "first": self.data["releases"][0],
                "last": self.data["releases"][-1],
                "releases": len(self.data["releases"]),
            },
            "installed": {
                "distribution": found.distribution,
                "version": found.version,
                "release": found.release,
                "error": found.error,
                "companions": dict(found.companions),
                "notes": list(found.notes),
            },
            "functions": functions,
        }
        report.update({name: section() for name, section in self.sections.items()})
        return report

    def _log_findings(self) -> None:
        log = logging.getLogger(__name__)
        for note in self.installed.notes:
            log.warning("%s", note)
        for binding in self.bindings.values():
            if binding.drift:
                log.warning(
                    "%s of %s is not as recorded for that release: %s",
                    binding.name,
                    self.installed.described,
                    "; ".join(binding.drift),
                )
            elif binding.state == ADAPTED:
                log.debug(
                    "%s is adapted on %s evidence: %s",
                    binding.name,
                    binding.evidence,
                    binding.why,
                )


def _spelled_out(value: Any, releases: tuple[str, ...]) -> Any:
    """The target's own tables with each range of releases as the releases in it."""
    if isinstance(value, Mapping):
        return {
            key: span(inner, releases)
            if key == "releases"
            else _spelled_out(inner, releases)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_spelled_out(item, releases) for item in value]
    return value


def as_table(report: Mapping[str, Any]) -> str:
    """A report for people.

    What is installed, each function, and each further section line by line.
    """
    made, found = report["made_from"], report["installed"]
    lines = [
        (
            f"adapter for {made['distribution']} {made['first']} to {made['last']} "
            f"({made['releases']} releases)"
        ),
        f"installed: {found['version'] or 'unknown version'}"
        + ("" if found["release"] else ", not a known release")
        + (f"; {found['error']}" if found["error"] else ""),
    ]
    lines += [f"  {name} {version}" for name, version in found["companions"].items()]
    lines += [f"  note: {note}" for note in found["notes"]]
    rows: list[tuple[str, ...]] = [
        ("function", "state", "evidence", "not taken by this build")
    ]
    for name, f in report["functions"].items():
        lacks = ", ".join(f["lacks"])
        rows.append(
            (
                name,
                f["state"],
                f["evidence"],
                f["why"] if f["state"] == MISSING else lacks or "-",
            )
        )
    lines += ["", *_columns(rows)]
    lines += [
        f"  drift in {n}: {d}"
        for n, f in report["functions"].items()
        for d in f["drift"]
    ]
    lines += [
        f"  refused {n} times: {text}"
        for f in report["functions"].values()
        for text, n in f["refused"].items()
    ]
    for name, section in report.items():
        if name not in ("made_from", "installed", "functions"):
            lines += ["", f"{name}:", *_nested(section)]
    return "\n".join(lines)


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [
        "  ".join(
            [*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]
        ).rstrip()
        for row in rows
    ]


def _nested(value: Any, indent: str = "  ") -> list[str]:
    if isinstance(value, Mapping):
        lines: list[str] = []
        for key, inner in value.items():
            if isinstance(inner, (Mapping, list)) and inner:
                lines += [f"{indent}{key}:", *_nested(inner, indent + "  ")]
            else:
                lines.append(f"{indent}{key}: {inner if inner or inner == 0 else '-'}")
        return lines
    if isinstance(value, list):
        lines = []
        for item in value:
            inner_lines = _nested(item, indent + "  ")
            lines.append(
                f"{indent}- {inner_lines[0].strip()}" if inner_lines else f"{indent}-"
            )
            lines += inner_lines[1:]
        return lines or [f"{indent}none"]
    return [f"{indent}{value}"]
