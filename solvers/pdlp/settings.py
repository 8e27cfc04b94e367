"""The constants of the method by subject, each with its meaning and where it comes from.

They are those of cuPDLPx (Lu, Peng, Yang, arXiv 2507.14051) unless said otherwise; what was
changed, and why, stands in ``docs/pdlp-constants.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

LOOK_GROWTH = 1.5
"""What costs time is looked at again when the iterations have grown by this factor."""

PROGRESS = 0.5
"""Part to which an error or a residual has to fall for that to count as progress."""

LONG = 20_000
"""Iterations from which a solve is a long one: it may change its scaling or try for a feasible
point near by, and looks for certificates whatever its error."""

FAR = 1e-2
"""A largest relative error above this is far from the end."""

LARGE = 1_000_000
"""Nonzeros from which a model is a large one: scalings are tried, a lane takes more of each row,
and launches of their own are no longer what an iteration costs."""


@dataclass(frozen=True)
class ScalingSettings:
    """Diagonal scaling (``scaling.py``)."""

    curtis_reid_passes: int = 20
    """Passes that divide rows, then columns, by the geometric mean of their entries."""
    curtis_reid_ridge: float = 0.2
    """What is added to each entry's weight of one, for the squares of the scales' logarithms."""
    ruiz_passes: int = 10
    """Passes that divide rows and columns at once by the root of their greatest magnitude."""


@dataclass(frozen=True)
class TrialSettings:
    """Scalings tried before a solve goes on with one (``scaling_trial.py``)."""

    from_nonzeros: int = LARGE
    """Nonzeros from which they are tried: small models are solved before it pays."""
    iterations: int = 800
    """Iterations of each; half of it for one that is behind the first then."""


@dataclass(frozen=True)
class AlternationSettings:
    """Alternate scalings (``alternate_scalings.py``)."""

    iterations: int | None = LONG
    """Iterations after which the solve may go on with Ruiz's scaling alone, or None for never."""
    tolerance_decades: float = 4.0
    """They are for a tolerance of so many decades; for a tighter one they grow in proportion."""
    progress: float = PROGRESS
    """A scaling stays while the least error, or the least residual, falls to this part in the last
    third of its iterations,"""
    decades_to_keep: float = 6.0
    """and for good if it has come nearer to the end than the one before by so many decades, the
    three errors' added up."""
    hopeless_from: float = math.inf
    """Iterations after which a scaling that stagnates is the last, as at an iteration limit,"""
    hopeless_error: float = FAR
    """if the least error is more than this still: for those who have a fallback."""


@dataclass(frozen=True)
class StepSettings:
    """The step size, and recovery when an iteration goes wrong."""

    fraction: float = 0.998
    """Step size as a part of 1 / ||A||, the largest for which the iteration converges."""
    power_iterations: int = 60
    """Power iterations spent on ||A||, which the scaling bounds by 1 (cuPDLPx: 5000)."""
    power_check: int = 20
    """Power iterations after which the vector is scaled anew: that fetches it and its image, which
    on a GPU takes longer than ten iterations."""
    norm_growth: float = 1.05
    """Factor on the estimate of ||A|| when the fixed-point metric proves it too small."""
    breakdowns_allowed: int = 3
    """Times that a solve may go on from its best point after numbers ceased to be finite."""
    recovery_factor: float = 0.5
    """Factor on the step size then, and on the inner tolerance when a point that seemed optimal is
    not on the host."""


@dataclass(frozen=True)
class RestartSettings:
    """The reflected Halpern iteration and its restarts.

    A restart is decided by the fixed-point metric against its value at the first iteration since
    the last restart.
    """

    reflection: float = 1.0
    """1 takes the fully reflected point, 1/2 would be plain Halpern PDHG."""
    check_interval: int = 200
    """Iterations of a block, between two checks of termination and restart."""
    sufficient_decrease: float = 0.2
    """Restart when the metric has fallen to this part."""
    necessary_decrease: float = 0.5
    """Restart when the metric has fallen to this part and begins to grow again."""
    artificial_share: float = 0.36
    """Restart when this part of all iterations has passed since the last restart."""
    standstill: float = 0.9
    """Restart when the metric is more than this part of what it was at half the iterations since
    the last restart: then x or y moves on in a straight line, and a better weight is what helps."""
    standstill_share: float = 0.05
    """Part of all iterations that has to have passed since the last restart for that."""


@dataclass(frozen=True)
class WeightSettings:
    """The primal weight at a restart: dual over primal distance, corrected by the residuals."""

    residual_exponent: float = 0.25
    """Power of primal over dual residual by which it is corrected, both relative."""
    reversal: float = 0.5
    """Part of a change of its logarithm that is made where the last change went the other way."""
    shortest_distance: float = 1e-16
    """A distance no longer than this says nothing: the best weight so far is taken instead,"""
    longest_distance: float = 1e12
    """nor does one that is longer than this."""
    largest_imbalance: float = 1e8
    """So is it when the relative dual and primal residual differ by more than this factor."""
    one_sided_checks: int = 2
    """Checks in a row that have to find one side where it was,"""
    one_sided_factor: float = 10.0
    """and the factor on the weight then (``restarts.py``)."""


@dataclass(frozen=True)
class CertificateSettings:
    """When to look for a certificate of infeasibility or unboundedness (``termination.py``)."""

    from_iterations: int = 800
    """Iterations before the first look: hardly any iterates move in a straight line sooner, and a
    look costs as much as some hundred iterations of a GPU."""
    error: float = FAR
    """With a largest relative error below this there is no look, nor where that error has made
    progress since the last time that a look was due,"""
    always_from: int = LONG
    """while there were fewer iterations than this."""


@dataclass(frozen=True)
class PolishingSettings:
    """Feasibility polishing within a long solve (``feasibility_polishing.py``)."""

    from_iterations: float = LONG
    """Iterations before the first try (infinite for none), for a tolerance of
    ``AlternationSettings.tolerance_decades``,"""
    entries: int = 100_000
    """and as many again for each so many nonzeros, since to set a try up takes longer then."""
    beyond: float = 10.0
    """What is left has to be so many tolerances: what is nearer comes by itself as soon."""
    growth: float = LOOK_GROWTH
    """The next try comes when the iterations have grown by this factor."""
    share: float = 0.1
    """A try may take this part of the iterations before it."""


@dataclass(frozen=True)
class StagnationSettings:
    """When a solve is given up (``supervision.py``)."""

    from_iterations: float = 1_000_000
    """Iterations in all before which a solve is not given up (infinite for never),"""
    growth: float = 3.0
    """nor before so many times those at which it had last come nearer to the end"""
    decades: float = 0.5
    """by so many decades, the three errors' added up."""


@dataclass(frozen=True)
class ShrinkingSettings:
    """Leaving out columns and rows that take no part (``shrinking``)."""

    enabled: bool = True
    """Whether it is tried at all."""
    from_nonzeros: int = 30_000
    """Nonzeros from which it is tried on a CPU,"""
    from_nonzeros_on_gpu: int = 100_000
    """and on a GPU, where an iteration of fewer costs about the same whatever they are."""
    first_look: int = 400
    """Iterations before the first look at what is idle, and at least between two."""
    growth: float = LOOK_GROWTH
    """The next look comes when the iterations have grown by this factor."""
    margin: float = 1.0
    """By how much more than things have moved a column or row has to be off to be left out."""
    share: float = 0.3
    """Part of the entries that may be left for it to begin."""
    share_of_part: float = 0.5
    """Part of a part's entries that may be left for a smaller part to be made."""
    far: float = 2.0
    """With more entries than so many times that, the next look comes"""
    wait_if_far: float = 1.7
    """later by this factor, because a look costs as much as some ten iterations."""
    wait_on_gpu: float = 2.0
    """The same on a GPU for the whole problem, however far it is: there a look of the host costs as
    much as hundreds of iterations (10 ms with half a million entries)."""
    hidden_error: float = 2.0
    """What is left out wrongly returns when the whole's error is so many times the part's,"""
    progress: float = 0.7
    """or when the part's error has not fallen to this of what it was at the look before."""
    returns: int = 5
    """Times that something may return before the whole problem takes over for good."""
    entries_of_launch: int = 200_000
    """What an iteration on an H200 costs beside its entries, in entries (4 us),"""
    entries_of_part: float = 1e9
    """and the preparation of a part (20 ms): iterations have to cost as much before it,"""
    entries_of_part_each: float = 8e3
    """and so much more for each entry that the whole problem has beyond"""
    part_entries: int = 400_000
    """these, for which the 20 ms were measured (0.5 s for four million)."""


@dataclass(frozen=True)
class ExecutionSettings:
    """How a problem is laid out and its iterations are run."""

    slice_seconds: float = 0.1
    """About how long to compute between two looks at the clock and the interruption flag."""
    gpu_from_nonzeros: int = 10_000
    """Nonzeros from which device='auto' uses the GPU: there an iteration takes 20 us on a core and
    3 on an H200, which in some hundred iterations is worth the 10 ms of setting up."""
    latency_up_to: int = LARGE
    """Nonzeros up to which a GPU has threads to spare and rows get more lanes."""
    steps_if_small: int = 4
    """Entries that one lane takes of a short row, in models up to that size."""
    steps_if_large: int = 16
    """Entries that one lane takes of a short row in larger models."""
    pack_from: int = 300_000
    """Nonzeros from which coefficients are stored in the shortest exact form on a GPU."""
    spread_up_to: int = 50_000
    """Nonzeros up to which threads are spread over as many multiprocessors as they can be."""
    flow_up_to: int = 600_000
    """Nonzeros up to which a block is tried without barriers (``execution/on_gpu.py``)."""
    barrier_from: int = 20_000
    """Nonzeros from which it is tried with barriers,"""
    barrier_up_to: int = 30_000_000
    """and up to which."""
    launches_from: int = LARGE
    """Nonzeros from which it is tried with launches of their own for each iteration."""


@dataclass(frozen=True)
class Settings:
    """What steers a solve beside the caller's options."""

    scaling: ScalingSettings = ScalingSettings()
    trial: TrialSettings = TrialSettings()
    alternation: AlternationSettings = AlternationSettings()
    step: StepSettings = StepSettings()
    restart: RestartSettings = RestartSettings()
    weight: WeightSettings = WeightSettings()
    certificate: CertificateSettings = CertificateSettings()
    polishing: PolishingSettings = PolishingSettings()
    stagnation: StagnationSettings = StagnationSettings()
    shrinking: ShrinkingSettings = ShrinkingSettings()
    execution: ExecutionSettings = ExecutionSettings()

    def changed(self, **subjects: Mapping[str, Any]) -> Settings:
        """Return settings with other values: ``changed(restart={"check_interval": 40})``."""
        groups = {name: replace(getattr(self, name), **new) for name, new in subjects.items()}
        return replace(self, **groups)


DEFAULT = Settings()
