"""Tolerances and limits of the paper's solver, on the scaled model with a largest cost of one.

The paper gives no figures; it asks for "conservative" ones (its appendix A). These are ours, chosen
so that objectives of Netlib's models come out within 1e-9 of the known ones.
"""

from __future__ import annotations

INVERSION_PERIOD = 500
"""Pivots after which the inverse is made anew, whatever its measured error."""

FEASIBLE = 1e-9
"""Infeasibility of a basic variable that counts as none, and the tolerance of Harris's test."""

ROUGH = 0.01
"""Part of the perturbation that is the tolerance of Harris's test while it lasts: the larger, the
more pivots there are to choose a large one from, but with 0.1 degenerate models take half as many
pivots again (d6cube, truss, gfrd-pnc)."""

NEARLY_FEASIBLE = 1e-7
"""Infeasibility that phase 1 may leave at the end, as large numbers round to no better."""

PRICES_OUT = 1e-9
"""Reduced cost that counts as negative, for a largest cost of about one."""

ZERO = 1e-9
"""Elements of d that cannot be pivots."""

SAFE = 1e-5
"""Pivots smaller than this are made only by the last resort."""

SMALLEST_PIVOT = 1e-8
"""What the last resort allows."""

ERROR = 1e-7
"""Reduced cost of a basic variable, which should be zero, that asks for a new inverse."""

HOPELESS = 50
"""An inverse that lasts fewer pivots is allowed ten times the error: nothing is claimed from it."""
DEPENDENT = (1e-11, 1e-9, 1e-7)
"""Parts of the largest diagonal element of R below which a column of a basis that could not be
inverted counts as dependent on others: one attempt after the other."""

PERTURBATION = 1e-6
"""xi_j is between one and two times this."""

WEAKER = 0.1
"""Factor of the perturbation from one attempt to the next."""

ATTEMPTS = 4
"""Perturbations before Bland's rule."""

DRIFT = 1e-4
"""Infeasibility after an inversion that is taken into the perturbation."""

PATIENCE = 1000
"""Pivots without perturbation after which, if there are also more than m, the end has stalled."""


LONG = 50
"""Multiple of m + n, beside :data:`LONG_AT_LEAST`, after which a perturbation has failed too."""

LONG_AT_LEAST = 50_000
"""Pivots that every perturbation, and Bland's rule, may use."""
