"""How hot loops are declared, loaded and dispatched; the helpers that device code shares."""

from solvers.kernels.declaration import Argument, Kernel, Launch, arguments, by_owner
from solvers.kernels.family import Family

__all__ = ["Argument", "Family", "Kernel", "Launch", "arguments", "by_owner"]
