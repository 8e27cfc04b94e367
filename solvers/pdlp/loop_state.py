"""What the main loop remembers from block to block, and the blocks that it has under way."""

from __future__ import annotations

import time
from dataclasses import dataclass

from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.pdlp.execution import IterationBlocks, iteration_blocks
from solvers.pdlp.restarts import WeightCorrection
from solvers.pdlp.shrinking import Compaction
from solvers.pdlp.state import State
from solvers.pdlp.supervision import Supervision
from solvers.pdlp.termination import CertificateSchedule, Criteria, Record

TRIALS = 2
"""Blocks of a state whose records are waited for before a queue is kept: a GPU tries its execution
modes in them, and whatever were queued behind would run in the first mode, which on some models
takes four times as long as the other (``execution/on_gpu.py``)."""


@dataclass(eq=False)
class LoopState:
    """What the loop remembers from block to block.

    ``blocks`` may run on a part of the problem only (``shrinking``); ``state`` is that of the
    whole, and is brought up to date before anybody looks at a point in it. Of ``blocks``, ``tried``
    counts the first records that were taken, up to ``TRIALS``. ``record`` is the last one, and
    ``submitted`` the iterations after the last block under way.
    """

    state: State
    options: EngineOptions
    progress: Progress
    supervision: Supervision
    criteria: Criteria
    whole_blocks: IterationBlocks
    blocks: IterationBlocks
    shrinking: Compaction
    correction: WeightCorrection
    certificates: CertificateSchedule
    record: Record
    submitted: int
    began: float
    tried: int = 0
    polishing_iterations: int = 0
    breakdowns: int = 0
    rejections: int = 0
    has_stagnated: bool = False

    @classmethod
    def begin(
        cls, state: State, options: EngineOptions, progress: Progress, supervision: Supervision
    ) -> LoopState:
        """Go on from a prepared state, wherever it stands."""
        record = Record(state.read_control())
        made, settings = record.iterations, state.settings
        blocks = iteration_blocks(state, progress)
        if supervision.milestone is not None:
            supervision.milestone.begin()
        return cls(
            state=state,
            options=options,
            progress=progress,
            supervision=supervision,
            criteria=Criteria.uniform(options.tolerance),
            whole_blocks=blocks,
            blocks=blocks,
            shrinking=Compaction(state, options, progress, made),
            correction=WeightCorrection(settings, options.tolerance, made),
            certificates=CertificateSchedule(settings.certificate),
            record=record,
            submitted=made,
            began=time.perf_counter(),
        )

    @property
    def total_iterations(self) -> int:
        """Iterations of the whole solve, those of other states and of polishing too."""
        return self.supervision.earlier + self.polishing_iterations + self.record.iterations

    @property
    def iteration_limit(self) -> int | None:
        """Iterations of this state at the most: polishing counts for the caller's limit."""
        limit = self.options.iteration_limit
        return None if limit is None else limit - self.polishing_iterations

    def submit(self) -> None:
        """Keep as many blocks under way as the device takes, within the iteration limit."""
        limit, depth = self.iteration_limit, self.blocks.depth
        if self.tried < TRIALS:
            depth = min(depth, TRIALS - self.tried)
        while self.blocks.pending < depth:
            count = self.state.settings.restart.check_interval
            if limit is not None:
                count = min(count, limit - self.submitted)
            if count <= 0:
                return
            self.blocks.submit(count)
            self.submitted += count

    def take(self) -> None:
        """Wait for the record of the next block."""
        self.record = self.blocks.take()
        self.tried = min(TRIALS, self.tried + 1)

    def wait_for_blocks(self) -> None:
        """Wait for the blocks under way, and take the last one's record."""
        self.blocks.drain()
        while self.blocks.pending:
            self.take()

    def discard_blocks(self) -> None:
        """Take the records of blocks that did nothing because the one before said stop."""
        self.blocks.drain()
        while self.blocks.pending:
            self.blocks.take()
        self.submitted = self.record.iterations

    def write_back(self) -> State:
        """Wait for the blocks under way; return the whole problem's state, brought up to date."""
        self.blocks.drain()
        self.shrinking.write_back()
        return self.state

    def move(self) -> None:
        """Go on in the state that shrinking has gone to."""
        here = self.shrinking.here
        if here is self.state:
            self.blocks = self.whole_blocks
        else:
            self.blocks = iteration_blocks(here, self.progress)
            self.tried = 0
        self.record = Record(here.read_control())
        self.submitted = self.record.iterations
        self.correction = WeightCorrection(here.settings, self.options.tolerance, self.submitted)
