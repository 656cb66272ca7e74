"""What came out upstream, for the body of a pull request and as JSON.

Enters: the news of each target. Leaves: Markdown that a maintainer understands in one minute (what breaks where,
whether anybody would notice, whether what the code base requires lets it in, then what changed upstream), or JSON.
Names, messages and paths of upstream and of the code bases have no effect as markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from driftwatch import __version__
from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Outcome
from driftwatch.report.changes import change_form, words
from driftwatch.report.diff import Comparison, behaviour_forms
from driftwatch.report.json_v1 import finding_form
from driftwatch.report.markdown import LONGEST, code, text
from driftwatch.report.phrases import count, outcome
from driftwatch.rules.behaviour import BehaviourChange
from driftwatch.snapshot.comparison.diff import Change, ChangeKind, Grade
from driftwatch.watching.news import Hits, NewRelease, News

MARKER = "<!-- driftwatch watch -->"
_MOST_SITES = 40
_MOST_CHANGES = 200


def title(news: Sequence[News]) -> str:
    """One line: what came out, and what it does; plain text."""
    releases = [(each, release) for each in news for release in each.releases]
    if releases:
        # What breaks most is what the line is for; of equals, the newest.
        most = max(_broken(release) for _, release in releases)
        told = [pair for pair in releases if _broken(pair[1]) == most][-1]
        more = f", and {count(len(releases) - 1, 'more release')}" if len(releases) > 1 else ""
        return _headline(*told) + more
    first = [f"{each.distribution}: {count(len(each.recorded), 'release')} recorded" for each in news if _first(each)]
    return "; ".join(first) or "nothing new"


def _broken(release: NewRelease) -> int:
    return sum(len(hits.errors) for hits in release.code)


def render(news: Sequence[News]) -> str:
    """The Markdown body."""
    blocks = [MARKER, f"## {text(title(news))}"]
    for each in news:
        blocks += _target(each)
    fitting: list[str] = []
    room = LONGEST - 200
    for block in blocks:
        room -= len(block) + 2
        if room < 0:
            fitting.append(f"… and more that would not fit here: {code('driftwatch diff')} shows it.")
            break
        fitting.append(block)
    return "\n\n".join(fitting) + "\n"


# -- parts -------------------------------------------------------------------------------------------------------------


def _target(news: News) -> Iterator[str]:
    if _first(news):
        recorded = f"{count(len(news.recorded), 'release')} recorded, {_span(news.recorded)}"
        yield f"{code(news.distribution)}: {text(recorded)}."
    elif not news.releases:
        newest = f"; the newest known release is {code(news.before)}" if news.before else ""
        yield f"{code(news.distribution)}: nothing new{newest}."
    for release in reversed(news.releases):
        yield from _release(news, release)
    for failure in news.failed:
        yield f"⚠️ {code(failure.release)} could not be read: {text(failure.error.message)}"
    if news.without_module:
        yield f"Without {code(news.module)}, and so left out: {', '.join(code(v) for v in news.without_module)}."


def _release(news: News, release: NewRelease) -> Iterator[str]:
    comparison = _comparison(news, release)
    kind = " ".join(
        said
        for said, holds in (("A pre-release.", release.preview), ("Not recorded: a dry run.", not news.written))
        if holds
    )
    yield f"### {code(f'{news.distribution} {release.version}')}, after {code(release.previous)}"
    if kind:
        yield kind
    if release.code:
        yield "\n".join(_table(release))
    for hits in release.code:
        yield from _sites(release, hits)
    if release.behaviour:
        yield "\n".join(_behaviour(release.behaviour))
    yield from _changes(release, comparison)


def _behaviour(changes: Sequence[BehaviourChange]) -> Iterator[str]:
    yield "**What no signature shows**"
    yield ""
    for change in changes:
        about = ", ".join(code(name) for name in change.about)
        what = "begins" if change.begins else "ends"
        yield f"- {what}: {about}: {text(change.message)} ({text(', '.join(change.evidence))})"


def _table(release: NewRelease) -> Iterator[str]:
    yield f"| code base | with {code(release.version)} | newly broken | degraded | is it let in? |"
    yield "|---|---|---|---|---|"
    for hits in release.code:
        silent = f"**{len(hits.silent)} silently**" if hits.silent else "none silently"
        broken = f"{count(len(hits.errors), 'call site')}, {silent}" if hits.errors else "none"
        off = count(len(hits.degraded), "place") if hits.degraded else "none"
        yield f"| {code(hits.name)} | {_verdict(hits)} | {broken} | {off} | {_let_in(release, hits)} |"


def _verdict(hits: Hits) -> str:
    if hits.errors:
        return "❌ breaks"
    if hits.already:
        return f"❌ broken before ({count(hits.already, 'error')})"
    if hits.degraded:
        return "🔶 works, with features off"
    return "⚠️ works" if hits.warnings else "✅ works"


def _let_in(release: NewRelease, hits: Hits) -> str:
    if release.preview:
        return "not released yet"
    if hits.requirement is None:
        return "nothing declared, so yes"
    return f"{'yes' if hits.allowed else 'no'}: {text(hits.requirement)}"


def _sites(release: NewRelease, hits: Hits) -> Iterator[str]:
    for said, findings in (
        ("What breaks", hits.errors),
        ("What switches itself off", hits.degraded),
        ("What to look at", hits.warnings),
    ):
        if not findings:
            continue
        rows = [f"**{said} in {code(hits.name)} with {code(release.version)}**", ""]
        rows += [_site(hits, finding) for finding in findings[:_MOST_SITES]]
        if len(findings) > _MOST_SITES:
            rows.append(f"- … and {len(findings) - _MOST_SITES} more")
        yield "\n".join(rows)


def _site(hits: Hits, finding: Finding) -> str:
    place = code(f"{finding.location.path}:{finding.location.line}")
    how = outcome(finding, hits.source)
    silent = "**silent** " if finding.outcome is Outcome.SILENT else ""
    ending = f"; {text(how)}" if how is not None else ""
    return f"- {silent}{place} {finding.code}: {text(finding.message)}{ending}"


def _changes(release: NewRelease, comparison: Comparison) -> Iterator[str]:
    if not comparison.changes:
        yield "The API has not changed."
        return
    removed = comparison.removed_names()
    if removed:
        users = _users(release)
        said = [(_used_by(users, change), code(change.ref.qualname)) for change in removed]
        # What is used here is what somebody has to act on.
        said.sort(key=lambda pair: not pair[0])
        rows = [f"- {name}{used}" for used, name in said[:_MOST_CHANGES]]
        if len(said) > _MOST_CHANGES:
            rows.append(f"- … and {len(said) - _MOST_CHANGES} more")
        yield "\n".join([f"**{count(len(removed), 'name')} removed** from {code(comparison.module)}:", "", *rows])
    for grade in Grade:
        rest = [change for change in comparison.of(grade) if change not in removed]
        if rest:
            yield "\n".join(_folded(grade, rest, comparison))


def _folded(grade: Grade, changes: Sequence[Change], comparison: Comparison) -> Iterator[str]:
    more = "more " if grade is Grade.BREAKING and comparison.removed_names() else ""
    yield f"<details><summary>{len(changes)} {more}{grade.value}</summary>"
    yield ""
    for change in changes[:_MOST_CHANGES]:
        said = words(change, comparison.symbols.get(change.ref))
        remark = f" ({text(said.remark)})" if said.remark else ""
        name = code(change.ref.dotted)
        if change.kind is ChangeKind.SYMBOL_ADDED:
            yield f"- {name} is new{': ' + code(said.text) if said.text else ''}"
        elif change.kind is ChangeKind.SYMBOL_REMOVED:
            yield f"- {name} is removed{remark}"
        else:
            yield f"- {name}: {code(f'{said.sign} {said.text}')}{remark}"
    if len(changes) > _MOST_CHANGES:
        yield f"- … and {len(changes) - _MOST_CHANGES} more"
    yield ""
    yield "</details>"


def _users(release: NewRelease) -> dict[str, list[str]]:
    """Which code bases the release hits at a symbol, by its dotted path."""
    users: dict[str, list[str]] = {}
    for hits in release.code:
        for finding in hits.findings:
            names = users.setdefault(finding.symbol, [])
            if hits.name not in names:
                names.append(hits.name)
    return users


def _used_by(users: dict[str, list[str]], change: Change) -> str:
    names = [name for ref in (change.ref, *change.also) for name in users.get(ref.dotted, ())]
    return f", used by {', '.join(code(name) for name in dict.fromkeys(names))}" if names else ""


def _headline(news: News, release: NewRelease) -> str:
    comparison = _comparison(news, release)
    removed, breaking = len(comparison.removed_names()), len(comparison.of(Grade.BREAKING))
    said: list[str] = []
    if removed:
        said.append(f"{count(removed, 'name')} removed")
    elif breaking:
        said.append(count(breaking, "breaking change"))
    else:
        said.append("no breaking change")
    for hits in release.code:
        if hits.errors:
            silent = f" ({len(hits.silent)} silently)" if hits.silent else ""
            said.append(f"breaks {count(len(hits.errors), 'call site')} of {hits.name}{silent}")
        elif hits.degraded:
            said.append(f"switches {count(len(hits.degraded), 'place')} of {hits.name} off")
    return f"{news.distribution} {release.version}: {', '.join(said)}"


def _comparison(news: News, release: NewRelease) -> Comparison:
    return Comparison(
        news.distribution,
        news.module,
        (release.previous, release.version),
        release.changes,
        release.symbols,
        release.behaviour,
    )


def _first(news: News) -> bool:
    return news.before is None and bool(news.recorded)


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


# -- JSON --------------------------------------------------------------------------------------------------------------


def render_json(news: Sequence[News]) -> str:
    form = {
        "schema": 1,
        "tool": {"name": "driftwatch", "version": __version__},
        "title": title(news),
        "new": any(each.releases or each.recorded for each in news),
        "breaks": any(each.breaks for each in news),
        "targets": [
            {
                "distribution": each.distribution,
                "module": each.module,
                "before": each.before,
                "recorded": list(each.recorded) if each.written else [],
                "without_module": list(each.without_module),
                "failed": [{"release": f.release, "message": f.error.message} for f in each.failed],
                "releases": [_release_form(each, release) for release in each.releases],
            }
            for each in news
        ],
    }
    return json.dumps(form, indent=2) + "\n"


def _release_form(news: News, release: NewRelease) -> dict[str, object]:
    comparison = _comparison(news, release)
    return {
        "version": release.version,
        "previous": release.previous,
        "preview": release.preview,
        "removed": [change.ref.qualname for change in comparison.removed_names()],
        "summary": {grade.value: len(comparison.of(grade)) for grade in Grade},
        "changes": [
            {**change_form(change), "also": [str(ref) for ref in change.also]} for change in comparison.changes
        ],
        "behaviour": behaviour_forms(release.behaviour),
        "code": [
            {
                "name": hits.name,
                "requirement": hits.requirement,
                "allowed": hits.allowed,
                "errors": len(hits.errors),
                "silent": len(hits.silent),
                "degraded": len(hits.degraded),
                "already": hits.already,
                "findings": [finding_form(finding, hits.timeline) for finding in hits.findings],
            }
            for hits in release.code
        ],
    }
