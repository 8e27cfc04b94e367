"""Around an engine that solves many small LPs of one pattern, an LP to a block of a kernel.

``data`` and ``answer`` are the arrays that are checked, ``inputs`` and ``results``
bring these to the device and back, ``slices`` is the loop over launches, and ``fallback`` goes on
on the CPU where a GPU's memory does not suffice.
"""
