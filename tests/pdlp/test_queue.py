"""No queue is kept before a GPU knows which execution mode is fastest."""

from __future__ import annotations

import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.pdlp import loop_state
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.loop_state import TRIALS
from solvers.pdlp.termination import Record
from tests.pdlp.lps import random_lp


class Deep(BlocksOnCpu):
    """Keeps a queue, and notes how long it is when a record is taken."""

    depth = 8
    lengths: list[int]

    def take(self) -> Record:
        self.lengths.append(self.pending)
        return super().take()


def test_the_queue_begins_after_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    monkeypatch.setattr(Deep, "lengths", lengths, raising=False)
    monkeypatch.setattr(loop_state, "iteration_blocks", Deep)
    options = EngineOptions(tolerance=1e-9, device="cpu")
    state = pdlp.prepare(random_lp(5, 30, 40), options, cpu(), Progress())
    outcome = pdlp.run(state, options, Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert lengths[: TRIALS + 1] == [*range(TRIALS, 0, -1), Deep.depth]
