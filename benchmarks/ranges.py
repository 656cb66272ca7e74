"""Do the ranges that popular packages declare for their dependencies hold?

    python benchmarks/ranges.py FOLDER [--only NAME]... [--all]

Each package's newest release on the index is held against the lowest release that each of its requirements allows (with
`--all`: against all that are allowed). FOLDER keeps one report a package; one that is there is not made again. What is
printed are the errors, to be read in both sources: docs/ranges.md has the verdicts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from driftwatch.snapshot.sources.index import PackageIndex

PACKAGES = (
    "requests", "urllib3", "httpx", "httpcore", "anyio", "h11", "h2", "starlette", "fastapi", "uvicorn", "flask",
    "werkzeug", "jinja2", "click", "typer", "rich", "textual", "django-environ", "djangorestframework", "celery",
    "kombu", "sqlalchemy-utils", "alembic", "marshmallow", "apispec", "pydantic-settings", "attrs", "cattrs",
    "jsonschema", "referencing", "virtualenv", "tox", "nox", "pre-commit", "poetry-core", "pipx", "build", "twine",
    "keyring", "cookiecutter", "sphinx", "myst-parser", "mkdocs", "nbconvert", "nbclient", "nbformat",
    "jupyter-client", "jupyterlab-server", "ipykernel", "ipython", "requests-oauthlib", "google-auth",
    "google-api-core", "boto3", "s3transfer", "moto", "responses", "httpretty", "pytest-httpx", "pytest-asyncio",
    "pytest-mock", "hypothesis", "faker", "black", "pylint", "bandit", "safety", "gunicorn", "tenacity", "structlog",
    "loguru", "tqdm", "huggingface-hub", "tokenizers", "datasets", "accelerate", "gradio-client", "openai",
    "anthropic", "langchain-core", "networkx", "seaborn", "altair", "plotly", "dask", "distributed", "xarray",
)  # fmt: skip
TIMEOUT = 900


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="NAME", help="Only these packages.")
@click.option("--all", "every", is_flag=True, help="All releases that are allowed, not only the lowest.")
def main(folder: Path, only: tuple[str, ...], every: bool) -> None:
    """Make the reports that are missing, and print every error."""
    folder.mkdir(parents=True, exist_ok=True)
    made = 0
    for name in only or PACKAGES:
        place = folder / f"{name}{'-all' if every else ''}.json"
        if not place.exists():
            started = time.monotonic()
            _make(name, place, every=every)
            print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        report = json.loads(place.read_text(encoding="utf-8"))
        made += "findings" in report
        for line in _errors(name, report):
            print(line, flush=True)
    print(f"{made} packages")


def _make(name: str, place: Path, *, every: bool) -> None:
    with PackageIndex() as index:
        version = index.project(name).newest()
    command = [sys.executable, "-m", "driftwatch", "deps", f"pypi:{name}=={version}", "--format", "json"]
    try:
        run = subprocess.run(
            command if every else [*command, "--lowest"], capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        report: dict[str, Any] = json.loads(run.stdout) if run.returncode in (0, 1) else {"failed": run.stderr[-2000:]}
    except subprocess.TimeoutExpired:
        report = {"failed": f"not done within {TIMEOUT} s"}
    place.write_text(json.dumps({"package": f"{name} {version}", **report}), encoding="utf-8")


def _errors(name: str, report: dict[str, Any]) -> Iterator[str]:
    package = report["package"]
    if "failed" in report:
        yield f"{package}: {report['failed'].strip().splitlines()[-1] if report['failed'].strip() else 'failed'}"
        return
    for finding in report["findings"]:
        if finding["severity"] == "error":
            place = f"{finding['path']}:{finding['line']}"
            yield f"{package}: {finding['target']} {finding['code']} {finding['releases']} {place} {finding['message']}"
    for each in report.get("diagnostics", ()):
        if "is not checked" in str(each):
            yield f"{package}: {each}"


if __name__ == "__main__":
    main()
