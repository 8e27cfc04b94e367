"""How hot loops are declared, loaded and dispatched; the helpers that device code shares."""

from solvers.kernels.family import Argument, Family, Kernel, Launch, arguments, by_owner

__all__ = ["Argument", "Family", "Kernel", "Launch", "arguments", "by_owner"]
