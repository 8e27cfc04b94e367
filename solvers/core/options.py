"""The options every engine understands, each declared once with its range and its sentence.

``gpu_bridge.options`` adds those of the bridge itself; validation, help and the documentation
page are made from these declarations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

VERTEX_TOLERANCE = 1e-5
"""Up to this tolerance ``crossover='auto'`` means a vertex; looser ones ask for a rough answer."""


def option(
    default: Any,
    sentence: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """Declare one option: its default, what it does, and which values it may take."""
    metadata = {"sentence": sentence, "low": low, "high": high, "choices": choices}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class EngineOptions:
    """Options that engines read. The time limit is not here: :class:`Progress` keeps it."""

    device: str = option(
        "auto",
        "Where the engines run: 'cuda' (or 'cuda:1' for the second GPU) fails without a GPU, "
        "'auto' uses one if it pays. With 'cuda:0,1' or 'cuda:all' PDLP, batches and heuristics of "
        "mixed-integer models run on several, and other engines on the first.",
        choices=("auto", "cuda", "cuda:N", "cuda:N,M", "cuda:all", "cpu"),
    )
    threads: int = option(0, "CPU threads; 0 uses all cores.", low=0, high=1024)
    seed: int = option(0, "Seed of every random choice.", low=0, high=2**31 - 1)
    tolerance: float = option(
        1e-6,
        "Relative tolerance on primal feasibility, dual feasibility and duality gap.",
        low=1e-10,
        high=1e-1,
    )
    integrality_tolerance: float = option(
        1e-6, "How far an integer variable may be from an integer.", low=1e-10, high=1e-1
    )
    rel_gap: float = option(
        1e-4, "Relative gap at which a mixed-integer model counts as solved.", low=0.0
    )
    abs_gap: float = option(
        1e-6, "Absolute gap at which a mixed-integer model counts as solved.", low=0.0
    )
    iteration_limit: int | None = option(
        None, "Iterations after which an LP engine stops; each counts its own.", low=0
    )
    node_limit: int | None = option(None, "Branch-and-bound nodes after which to stop.", low=0)
    heuristics_only: bool = option(
        False,
        "Search for good points of a mixed-integer model only: no branch and bound, no bound.",
    )
    pool_size: int = option(
        10, "Distinct solutions of a mixed-integer model to keep, the best ones.", low=1, high=10**6
    )
    deterministic: bool = option(
        False,
        "Make heuristics take the same path in every run, one after the other, by counting work "
        "instead of time.",
    )
    work_limit: float | None = option(
        None,
        "Work of the heuristics, in billions of matrix entries visited, after which they stop; "
        "1 where they are deterministic and nothing is given.",
        low=0.0,
    )
    presolve: bool = option(True, "Reduce the model before solving it.")
    crossover: str = option(
        "auto",
        "Move a first-order or interior point on to a vertex; 'auto' does so unless the tolerance "
        "is looser than 1e-5.",
        choices=("auto", "on", "off"),
    )
    lp_algorithm: str = option(
        "auto",
        "Algorithm of the reference engine for linear programs.",
        choices=("auto", "simplex", "ipm", "pdlp"),
    )

    simplex_variant: str = option(
        "auto",
        "Implementation of method='simplex': 'auto' is HiGHS's on the CPU and 'dense' where a GPU "
        "pays, with an inverse on the device.",
        choices=("auto", "dense"),
    )

    @property
    def wants_vertex(self) -> bool:
        """Whether the answer to a linear program should be a vertex."""
        if self.crossover == "auto":
            return self.tolerance <= VERTEX_TOLERANCE
        return self.crossover == "on"
