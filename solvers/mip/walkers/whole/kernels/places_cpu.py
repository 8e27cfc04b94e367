"""Places in a walker's record and in the control array, as plain numbers for compiled code."""

from __future__ import annotations

from solvers.mip.walkers.kernels.fields import Field
from solvers.mip.walkers.whole.kernels.fields import Control, Mode

REPAIR, LIFT, BREAK = int(Mode.REPAIR), int(Mode.LIFT), int(Mode.BREAK)

JUMP, TENURE, SPREAD = int(Field.JUMP), int(Field.TENURE), int(Field.SPREAD)
ORIGIN, REFRESH = int(Field.ORIGIN), int(Field.REFRESH)
STEP, OBJECTIVE, VIOLATED = int(Field.STEP), int(Field.OBJECTIVE), int(Field.VIOLATED)
OBJECTIVE_WEIGHT, TARGET, LIMIT = (
    int(Field.OBJECTIVE_WEIGHT),
    int(Field.TARGET),
    int(Field.LIMIT),
)
BEST, KEPT, CURSOR, IDLE = int(Field.BEST), int(Field.KEPT), int(Field.CURSOR), int(Field.IDLE)
MOVES, MINIMA, VISITED = int(Field.MOVES), int(Field.MINIMA), int(Field.VISITED)
SMOOTHING, FRACTION, SCALE = int(Field.SMOOTHING), int(Field.FRACTION), int(Field.SCALE)
GRANULARITY, PATIENCE = int(Field.GRANULARITY), int(Field.PATIENCE)

MODE, FORCED, COPY, SMOOTH = (
    int(Control.MODE),
    int(Control.FORCED),
    int(Control.COPY),
    int(Control.SMOOTH),
)
ROW_TEAMS, OBJECTIVE_TEAMS, START = (
    int(Control.ROW_TEAMS),
    int(Control.OBJECTIVE_TEAMS),
    int(Control.START),
)
PENDING, DONE, HUGE_USED = int(Control.PENDING), int(Control.DONE), int(Control.HUGE_USED)
EXCLUSIVE, MOVED, SEEN = int(Control.EXCLUSIVE), int(Control.MOVED), int(Control.SEEN)
MOVERS = int(Control.MOVERS)
