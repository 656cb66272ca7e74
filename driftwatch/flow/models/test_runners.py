"""What the test runners do: marks that skip tests, and calls that end one."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.taint import depends_on_release
from driftwatch.flow.domain.values import UNKNOWN, Const, Raised, SkipMark, Value, unknown, value_of
from driftwatch.flow.interpreter.arguments import argument
from driftwatch.flow.interpreter.conditions import split, truth_of
from driftwatch.flow.interpreter.exceptional import thrown
from driftwatch.flow.interpreter.managers import handler_of, with_handler
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.skips import ALWAYS


def _ends_test(name: str, raised: str) -> None:
    """A call of this name ends a test by raising what only the test runner takes."""

    @model(name)
    def _end(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        return thrown(run, Value(((run.state.reach, Raised((raised, "BaseException"))),)), node)


for _name in ("pytest.skip", "pytest.xfail", "pytest.fail", "pytest.exit"):
    _ends_test(_name, f"{_name}.Exception")
_ends_test("unittest.TestCase.skipTest", "unittest.SkipTest")
_ends_test("unittest.TestCase.fail", "AssertionError")


def _mark_where(run: Run, arguments: Arguments, node: cst.CSTNode, *, skips: bool) -> Value:
    condition = argument(arguments, 0, "condition")
    if condition is None:
        # `xfail` without a condition, or one that nobody can read.
        return unknown(run.state.reach)
    if condition.where(lambda atom: isinstance(atom, Const) and isinstance(atom.value, str)):
        # Text is evaluated by the runner.
        return unknown(run.state.reach)
    holds, fails = split(run, None, condition, lambda atom: truth_of(run, atom))
    surely = (holds.reach - fails.reach) if skips else (fails.reach - holds.reach)
    perhaps = holds.reach & fails.reach & depends_on_release(condition)
    never = run.state.reach - surely - perhaps
    return value_of([(surely, SkipMark(surely=True)), (perhaps, SkipMark(surely=False)), (never, UNKNOWN)])


@model("pytest.mark.skipif", "pytest.mark.xfail", "unittest.skipIf", "unittest.case.skipIf")
def _skip_if(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Of a test that is expected to fail, which may do so, nothing is said, either."""
    return _mark_where(run, arguments, node, skips=True)


@model("unittest.skipUnless", "unittest.case.skipUnless")
def _skip_unless(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _mark_where(run, arguments, node, skips=False)


@model(*ALWAYS)
def _skip(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, SkipMark(surely=True)),))


@model("pytest.raises", "unittest.TestCase.assertRaises")
def _expects(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``pytest.raises(E, f, ...)``: what is given after the exceptions is called, and there to raise one of them."""
    func = argument(arguments, 1)
    if func is None or not isinstance(node, cst.Call):
        return unknown(run.state.reach)
    handler = handler_of(run, node, expects=True)
    rest = replace(arguments.positional, elements=arguments.positional.elements[2:])
    with_handler(run, handler, (), lambda: run.call(func, Arguments(rest, arguments.keywords), node))
    return unknown(run.state.reach)
