"""One run of one solver on one mixed-integer model, and what many of them come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmarks.mip_measures import AS_GOOD, mean, shifted_mean


@dataclass(frozen=True)
class MipRow:
    """What one run came to; None where there is nothing to say.

    ``feasible`` says whether there was a point in time that the checker accepts, ``objective`` is
    that point's, in the sense of the file (``sense`` is -1 if that is to maximise), ``gap`` its
    primal gap, ``integral`` the primal integral over the limit, a number between 0 and 1, ``first``
    the seconds to the first point. ``name`` is the solver's short name, ``proven`` and ``wrong``
    say whether an optimum was claimed and whether a claim is refuted.
    """

    model: str
    solver: str
    seed: int
    limit: float
    status: str
    feasible: bool
    sense: float = 1.0
    objective: float | None = None
    bound: float | None = None
    gap: float = 1.0
    integral: float | None = None
    first: float | None = None
    seconds: float = 0.0
    proven: bool = False
    wrong: str = ""
    violation: float | None = None
    warm_up: float | None = None
    events: tuple[tuple[float, float], ...] = ()
    source: str = ""
    detail: str = ""
    name: str = ""
    recorded: bool = False

    def as_record(self) -> dict[str, Any]:
        """Return the fields for a record."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> MipRow:
        """Read what :meth:`as_record` wrote; unknown fields are ignored."""
        known = {item.name for item in fields(cls)}
        values = {name: value for name, value in record.items() if name in known}
        values["events"] = tuple((float(t), float(f)) for t, f in values.get("events", ()))
        return cls(**values)


@dataclass(frozen=True)
class MipSummary:
    """One solver over many models: each figure is the mean over models of means over seeds.

    ``feasible`` and ``optimal`` are numbers of models, ``gap`` and ``integral`` arithmetic means,
    ``integral_mean`` and ``first`` shifted geometric means in seconds (the limit counts where no
    point was found), ``best`` the share of models on which no other solver has a better integral,
    ``late`` the most seconds beyond the limit.
    """

    solver: str
    models: int
    runs: int
    feasible: float
    gap: float
    integral: float | None
    integral_mean: float | None
    first: float | None
    optimal: float
    best: float | None
    wrong: int
    late: float


def common_models(rows: Sequence[MipRow]) -> list[str]:
    """Return the models that every solver which is not recorded has run, in order."""
    solvers = {row.solver for row in rows if not row.recorded}
    done: dict[str, set[str]] = {}
    for row in rows:
        if not row.recorded:
            done.setdefault(row.model, set()).add(row.solver)
    return [model for model, by in done.items() if by == solvers]


def summarise(rows: Sequence[MipRow]) -> list[MipSummary]:
    """Return a line per solver over the models that all of them have run."""
    models = common_models(rows)
    kept = [row for row in rows if row.model in set(models)]
    integrals = _integrals(kept)
    return [
        _summary(solver, [row for row in kept if row.solver == solver], integrals)
        for solver in dict.fromkeys(row.solver for row in kept)
    ]


def _integrals(rows: Sequence[MipRow]) -> dict[str, dict[str, float]]:
    """Return the mean integral by model and solver."""
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row.integral is not None:
            values.setdefault(row.model, {}).setdefault(row.solver, []).append(row.integral)
    return {
        model: {solver: mean(found) for solver, found in by.items()} for model, by in values.items()
    }


def _summary(
    solver: str, rows: Sequence[MipRow], integrals: dict[str, dict[str, float]]
) -> MipSummary:
    by_model: dict[str, list[MipRow]] = {}
    for row in rows:
        by_model.setdefault(row.model, []).append(row)
    groups = list(by_model.values())
    own = {model: by[solver] for model, by in integrals.items() if solver in by}
    limits = {model: group[0].limit for model, group in by_model.items()}
    firsts = [
        mean([row.limit if row.first is None else row.first for row in group]) for group in groups
    ]
    timed = any(row.first is not None for row in rows)
    return MipSummary(
        solver=solver,
        models=len(groups),
        runs=len(rows),
        feasible=sum(mean([float(row.feasible) for row in group]) for group in groups),
        gap=mean([mean([row.gap for row in group]) for group in groups]),
        integral=mean(list(own.values())) if own else None,
        integral_mean=shifted_mean([own[m] * limits[m] for m in own]) if own else None,
        first=shifted_mean(firsts) if timed else None,
        optimal=sum(mean([float(row.proven) for row in group]) for group in groups),
        best=_share_of_wins(solver, own, integrals),
        wrong=sum(bool(row.wrong) for row in rows),
        late=max((row.seconds - row.limit for row in rows), default=0.0),
    )


def _share_of_wins(
    solver: str, own: dict[str, float], integrals: dict[str, dict[str, float]]
) -> float | None:
    if not own:
        return None
    return mean([float(value <= min(integrals[m].values()) + AS_GOOD) for m, value in own.items()])
