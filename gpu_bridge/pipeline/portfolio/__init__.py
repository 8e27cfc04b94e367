"""One mixed-integer model in many ways at once: who takes part, on a worker and from afar."""
