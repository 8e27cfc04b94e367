"""The extended feasibility pump: rounding and projecting in turn, with local search between.

Of arXiv 2510.20499, section 2.5, with its two forebears: the objective feasibility pump
(Achterberg and Berthold 2007) and the pump for general integers in two stages (Bertacco, Fischetti
and Lodi 2007). ``augmented`` has the projection's linear program, ``projectors``
who solves it, ``trajectory`` the loop, ``proposals`` the cut-off that makes an improvement
heuristic of it. ``root`` solves the relaxation, for whoever needs it.
"""
