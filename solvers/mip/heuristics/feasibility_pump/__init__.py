"""The extended feasibility pump: rounding and projecting in turn, with local search between.

Of arXiv 2510.20499, section 2.5, with its two forebears: the objective feasibility pump
(Achterberg and Berthold 2007) and the pump for general integers in two stages (Bertacco, Fischetti
and Lodi 2007). ``projection`` has the projection's linear program and who solves it, ``steps``
what comes between two projections, ``trajectory`` the loop, ``run`` one pump and several in
lockstep.
"""
