"""The backend mnnvl-cutedsl: kernels that are compiled, when a workspace is made, for
what calls will say.

Enters: a request that names its patterns. Leaves: whether the installed build says that
it can, and a workspace for each way in which the patterns have to be compiled. All of
it is as `comm/mnnvl_cutedsl_ar.py` of the releases from 0.7.2.post1 on has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import CUTEDSL, Request
from driftwatch.targets.flashinfer_comm.patterns import (
    DYNAMIC_FP8,
    FP8,
    MOE_FP8_PATTERN,
    MOE_PATTERN,
    NORM_PATTERN,
    PATTERNS,
    PLAIN_PATTERN,
)

COMPILED_DTYPE = "bfloat16"
_SUPPORTED = "is_mnnvl_cutedsl_supported"
_FP8, _NORM_TOO = {"output_dtype": "float8_e4m3fn"}, {"write_norm_output": True}
COMPILED_MODES: dict[str, dict[str, Any]] = {
    NORM_PATTERN: {},
    MOE_PATTERN: {},
    PLAIN_PATTERN: {"apply_rms_norm": False, "add_residual": False},
    PATTERNS[FP8][0]: _FP8,
    PATTERNS[FP8][1]: {**_FP8, **_NORM_TOO},
    PATTERNS[DYNAMIC_FP8][0]: {**_FP8, "dynamic_fp8": True},
    PATTERNS[DYNAMIC_FP8][1]: {**_FP8, "dynamic_fp8": True, **_NORM_TOO},
    MOE_FP8_PATTERN: _FP8,
}
"""How a workspace is made for each pattern: what differs from the defaults."""


def compiled_patterns(request: Request) -> tuple[str, ...]:
    """What a workspace is compiled for: what was asked for, or the norm."""
    return request.patterns or (NORM_PATTERN,)


def compiled_values(request: Request) -> dict[str, Any]:
    """What every call must say, since it is compiled in."""
    return {
        "rms_eps": request.rms_eps,
        "weight_bias": request.weight_bias,
        "include_shared_expert": request.include_shared_expert,
        **({} if request.top_k is None else {"top_k": request.top_k}),
    }


def compiled_objection(adapter: Adapter, request: Request, size: int) -> str | None:
    """Why the installed build has no kernels for a request, as it says itself."""
    if request.dtype != COMPILED_DTYPE:
        return f"{CUTEDSL} is for {COMPILED_DTYPE}, not {request.dtype}"
    if not adapter.available(_SUPPORTED):
        return None  # making the workspace will tell
    import torch

    supported = adapter.attribute(_SUPPORTED)
    for pattern, mode in _ways(compiled_patterns(request)):
        asked = {k: v for k, v in _arguments(mode).items() if k != "add_residual"}
        if request.top_k is not None:
            asked["top_k"] = request.top_k
        if not supported(
            size,
            request.hidden_dim,
            torch.bfloat16,
            max_token_num=request.max_token_num,
            **asked,
        ):
            experts = request.top_k if request.top_k is not None else "not given"
            return (
                f"{_SUPPORTED} of {adapter.installed.described} says no: {pattern} for "
                f"{size} ranks, rows of {request.hidden_dim}, up to "
                f"{request.max_token_num} tokens, top_k {experts}"
            )
    return None


class CompiledWorkspaces:
    """A workspace for each way in which patterns are compiled, closed as one."""

    backend = CUTEDSL

    def __init__(self, create: Any, request: Request, place: Mapping[str, Any]) -> None:
        """`place` is who meets: world_size, rank and group."""
        import torch

        self.made_for, self.size = request, place["world_size"]
        self._made: list[Any] = []
        self.object: dict[str, Any] = {}
        patterns = compiled_patterns(request)
        try:
            for _, mode in _ways(patterns):
                self._made.append(
                    create(
                        backend=CUTEDSL,
                        max_token_num=request.max_token_num,
                        hidden_dim=request.hidden_dim,
                        dtype=torch.bfloat16,
                        **place,
                        **compiled_values(request),
                        **_arguments(mode),
                    )
                )
                for pattern in patterns:
                    if COMPILED_MODES[pattern] == mode:
                        self.object[pattern] = self._made[-1]
        except BaseException:  # whatever it is, what was made before it is freed
            self.destroy()
            raise

    def fits(self, request: Request) -> bool:
        """Whether calls of such a request can use it: all that is compiled in is the
        same (see `Decided`), and it is large enough.
        """
        return request.max_token_num <= self.made_for.max_token_num

    def checkpoint(self, step: str, meeting: object) -> bool:
        """No release that has it can give its memory back."""
        return False

    def destroy(self) -> None:
        while self._made:
            self._made.pop().destroy()


def _ways(patterns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each way of compiling that patterns need, with the first pattern that does."""
    seen: list[dict[str, Any]] = []
    for pattern in patterns:
        mode = COMPILED_MODES[pattern]
        if mode not in seen:
            seen.append(mode)
            yield pattern, mode


def _arguments(mode: Mapping[str, Any]) -> dict[str, Any]:
    """A way of compiling as arguments."""
    import torch

    return {k: getattr(torch, v) if isinstance(v, str) else v for k, v in mode.items()}
