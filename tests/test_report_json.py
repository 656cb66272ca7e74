"""JSON version 1: valid against the shipped schema, complete, deterministic, and the same as its types."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema
import pytest

from driftwatch.report import json_v1, render
from driftwatch.report.options import RenderOptions
from driftwatch.report.styled import Look
from tests.report_sample import HOSTILE, REPORT

SCHEMA = json.loads(resources.files("driftwatch.report").joinpath("schema_v1.json").read_text(encoding="utf-8"))


def document() -> Any:
    return json.loads(render("json", REPORT, RenderOptions()))


def test_valid_against_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(document())


@pytest.mark.parametrize("path", [(), ("tool",), ("targets", 0), ("findings", 0), ("unresolved", 0), ("summary",)])
def test_the_schema_refuses_what_is_missing_or_new(path: tuple[str | int, ...]) -> None:
    for change in ("drop", "add"):
        changed = document()
        place = changed
        for key in path:
            place = place[key]
        if change == "drop":
            place.pop(next(iter(place)))
        else:
            place["surprise"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(changed, SCHEMA)


def test_types_and_schema_name_the_same_keys() -> None:
    pairs = {
        json_v1.ReportForm: SCHEMA,
        json_v1.TargetForm: SCHEMA["$defs"]["target"],
        json_v1.FindingForm: SCHEMA["$defs"]["finding"],
        json_v1.UnresolvedForm: SCHEMA["$defs"]["unresolved"],
        json_v1.Summary: SCHEMA["properties"]["summary"],
        json_v1.StepForm: SCHEMA["$defs"]["finding"]["properties"]["trace"]["items"],
    }
    for form, schema in pairs.items():
        required = [key for key in get_type_hints(form) if key in form.__required_keys__]
        assert required == schema["required"] == [key for key in schema["properties"] if key in required]
        assert set(get_type_hints(form)) == set(schema["properties"])


def test_the_documentation_names_every_key() -> None:
    page = (Path(__file__).parent.parent / "docs" / "json.md").read_text(encoding="utf-8")
    for form in (json_v1.ReportForm, json_v1.TargetForm, json_v1.FindingForm, json_v1.Summary):
        for key in get_type_hints(form):
            assert f"`{key}`" in page, key


def test_content() -> None:
    shown = document()
    assert shown["schema"] == 1
    assert shown["targets"][0]["releases"] == {
        "known": ["0.5.0", "0.6.0", "0.6.1", "0.6.2", "0.7.0", "0.7.1"],
        "checked": ["0.6.0", "0.6.1", "0.6.2", "0.7.0", "0.7.1"],
    }
    assert shown["targets"][0]["compatible"] == ["0.6.2", "0.7.0"]
    assert shown["targets"][0]["degraded"] == ["0.7.0"]
    assert shown["summary"] == {
        "files": 1959,
        "analysed": 12,
        "errors": 3,
        "warnings": 1,
        "notes": 1,
        "silent": 1,
        "unresolved": 1,
    }
    silent = shown["findings"][1]
    assert silent["outcome"] == "silent"
    assert silent["caught_at"] == {"path": "pkg/fusion.py", "line": 10}
    assert silent["releases"] == ["0.6.0", "0.6.1"]
    assert silent["beyond"] == ["0.5.0"]
    assert silent["trace"] == [{"path": "pkg/fusion.py", "line": 7, "note": "`group` is put into the dict here"}]


def test_the_bytes_do_not_depend_on_looks_or_time() -> None:
    plain = render("json", REPORT, RenderOptions())
    assert plain == render("json", REPORT, RenderOptions(Look(True, 40), True))
    assert plain.isascii()
    assert "4.1" not in plain


def test_text_is_kept_exactly() -> None:
    assert document()["findings"][0]["message"] == HOSTILE.message
