"""Blocks with a few rows and columns through all of them: side by side, and as a staircase."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.families.builder import Builder, Term
from benchmarks.linear_programs import LinearProgram

ROWS, COLUMNS, ROW_LENGTH = 50, 80, 6
"""Of a block."""

LINKING_ROWS, LINKING_PART = 10, 0.3
SHARED_COLUMNS, SHARED_IN_A_ROW = 5, 2

SECTORS_USED = 8
"""Other sectors that a sector buys from."""

WEAR = 0.05


def block_angular(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return divisions that share ten resources and five decisions.

    Sides lie round the activities of a random point, so that there is a solution; all columns are
    bounded. Coefficients have two decades.
    """
    rng = np.random.default_rng(seed)
    entries = ROWS * (ROW_LENGTH + SHARED_IN_A_ROW) + LINKING_ROWS * LINKING_PART * COLUMNS
    count = max(1, round(nonzeros / entries))
    builder = Builder(f"block-angular-{count}")
    shape = (count, ROWS)
    cost = rng.normal(0.0, 1.0, (count, COLUMNS))
    own = builder.columns(count, COLUMNS, cost=cost, upper=rng.uniform(1.0, 10.0, cost.shape))
    shared = builder.columns(SHARED_COLUMNS, cost=float(count), upper=10.0)
    which = rng.integers(0, COLUMNS, (*shape, ROW_LENGTH))
    mine = np.take_along_axis(own[:, None], which, axis=2)
    also = shared[rng.integers(0, SHARED_COLUMNS, (*shape, SHARED_IN_A_ROW))]
    terms = [Term(mine, _sizes(rng, mine.shape)), Term(also, _sizes(rng, also.shape))]
    builder.rows(shape, terms)
    linked = own.ravel()[rng.integers(0, own.size, (LINKING_ROWS, int(LINKING_PART * own.size)))]
    builder.rows((LINKING_ROWS,), [Term(linked, np.abs(_sizes(rng, linked.shape)))])
    lp = builder.finish()
    activity = lp.matrix @ (rng.uniform(0.1, 0.9, lp.cost.size) * lp.upper)
    equal = rng.random(activity.size) < 0.2
    equal[-LINKING_ROWS:] = False
    room = np.where(equal, 0.0, rng.uniform(0.0, 1.0, activity.size))
    return replace(lp, row_lower=np.where(equal, activity, -np.inf), row_upper=activity + room)


def staircase(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return an economy of sectors that buy from each other, invest and grow over many periods.

    The dynamic model of Leontief, with labour in each period, one budget of emissions over all and
    one terminal that limits the imports of each period.
    """
    rng = np.random.default_rng(seed)
    sectors = max(SECTORS_USED, round(nonzeros ** (1 / 3)))
    periods = max(2, round(nonzeros / (sectors * (SECTORS_USED + 17))))
    shape = (periods, sectors)
    builder = Builder(f"staircase-{sectors}-{periods}")
    discount = 0.05 ** (np.arange(periods) / periods)[:, None]
    taste = rng.uniform(0.5, 2.0, sectors)
    output, invested = builder.columns(*shape), builder.columns(*shape)
    start = rng.uniform(5.0, 10.0, sectors)
    first = np.zeros((periods, 1), dtype=bool)
    first[0] = True
    least, most = np.where(first, start, 0.0), np.where(first, start, np.inf)
    capacity = builder.columns(*shape, lower=least, upper=most)
    empty = builder.columns(1, sectors, upper=0.0)
    stock = builder.columns(*shape, cost=0.001)
    wanted = builder.columns(*shape, cost=-discount * taste, upper=start)
    more = builder.columns(*shape, cost=-0.5 * discount * taste)
    imported = builder.columns(*shape, cost=3.0 * discount)
    terminal = builder.columns(1, cost=float(periods))
    buys = np.argsort(rng.random((sectors, sectors)), axis=1)[:, :SECTORS_USED]
    share = rng.uniform(0.0, 1.2 / SECTORS_USED, buys.shape)
    goods = rng.integers(0, sectors, (sectors, 2))
    spent = [Term(output[:, buys], -share), Term(invested[:, goods], -0.3)]
    used = [Term(wanted, -1.0), Term(more, -1.0), Term(stock, -1.0), *spent]
    kept = Term(np.concatenate([empty, stock[:-1]]), 0.98)
    builder.rows(shape, [Term(output), Term(imported), kept, *used], lower=0.0)
    grown = [Term(capacity[1:]), Term(capacity[:-1], WEAR - 1.0), Term(invested[:-1], -1.0)]
    builder.rows((periods - 1, sectors), grown, lower=0.0, upper=0.0)
    builder.rows(shape, [Term(output), Term(capacity, -1.0)], upper=0.0)
    labour = rng.uniform(0.2, 1.0, sectors)
    builder.rows((periods,), [Term(output, labour)], upper=1.2 * float(labour @ start))
    builder.rows((periods,), [Term(imported), Term(terminal[None, 0], -1.0)], upper=0.0)
    dirt = rng.lognormal(-1.0, 1.0, sectors)
    emitted = Term(output.reshape(1, -1), np.tile(dirt, periods))
    builder.rows((1,), [emitted], upper=0.8 * periods * float(dirt @ start))
    return builder.finish()


def _sizes(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return coefficients of either sign over two decades."""
    return rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(-1.0, 1.0, shape)
