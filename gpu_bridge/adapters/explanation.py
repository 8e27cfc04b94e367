"""An answer in sentences, for a caller whose model has no place for them."""

from __future__ import annotations

from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason


def why_not_loaded(outcome: Outcome) -> str:
    """Return why the model keeps its values, and what to do about it where something can be."""
    if outcome.solution_status is not SolutionStatus.APPROXIMATE:
        return explanation(outcome)
    return f"{explanation(outcome)} With the option load_approximate=True it is loaded."


def explanation(outcome: Outcome) -> str:
    """Return what the answer is and, where there is no optimum, why."""
    parts = [f"The answer is {outcome.answer}"]
    if outcome.stop_reason is not StopReason.CONVERGED:
        parts.append(str(outcome.stop_reason))
    more = [outcome.message, outcome.explanation]
    return " ".join(["; ".join(parts) + ".", *dict.fromkeys(text for text in more if text)])
