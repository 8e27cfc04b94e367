"""Parts of the model as small mixed-integer programs of their own, solved by HiGHS.

A heuristic says which box to search, and which rows, costs or slacks to add (:class:`SubMip`).
Fixed columns and the rows that hold only such are dropped (``submip``); ``runner`` solves what is
left on one thread, in a child process where it is large, and hands every better point on as it
comes.
"""

from solvers.mip.submip.runner import Limits, solve_submip
from solvers.mip.submip.submip import ExtraRow, SubMip, SubMipResult, SubMipStatus

__all__ = ["ExtraRow", "Limits", "SubMip", "SubMipResult", "SubMipStatus", "solve_submip"]
