"""Claims on small models proven in rational arithmetic, where doubles cannot be trusted.

HiGHS's simplex guesses multipliers, and what they prove is computed without a rounding error
(Neumaier and Shcherbina, "Safe bounds in linear and mixed-integer linear programming", 2004).
"""

from solvers.highs.rational.prove import Proof, prove

__all__ = ["Proof", "prove"]
