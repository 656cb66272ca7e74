"""How an environment is declared that a doctor is sent to: its verdict, its causes and what fixes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from driftwatch.doctor.model import State
from tests.made_environment import Made


@dataclass(frozen=True)
class Environment:
    """One environment. `says` is the id of the first cause; `fixes` is part of the first command that fixes."""

    build: Callable[[Made], None]
    state: State
    says: str | None = None
    fixes: str = ""
    real_torch: bool = False
    imports: bool = True


ENVIRONMENTS: dict[str, Environment] = {}


def well(made: Made, version: str = "0.6.14", stated: str | None = "") -> None:
    """Two GPUs, torch for CUDA, a compiler."""
    made.flashinfer(version, stated=stated)
    machine(made)


def machine(made: Made, *capabilities: str) -> None:
    capabilities = capabilities or ("10.0", "10.0")
    made.torch(*capabilities)
    made.smi(*capabilities)
    made.compiler()


def environment(
    state: State, says: str | None = None, fixes: str = "", *, real_torch: bool = False, imports: bool = True
) -> Callable[[Callable[[Made], None]], Callable[[Made], None]]:
    def add(build: Callable[[Made], None]) -> Callable[[Made], None]:
        ENVIRONMENTS[build.__name__] = Environment(build, state, says, fixes, real_torch, imports)
        return build

    return add
