"""Depth-first search that learns a clause from every contradiction, and restarts.

Lazy clause generation (Ohrimenko, Stuckey, Codish 2009) over the rows of a model: conflict analysis
to the first unique implication point (Marques-Silva, Sakallah 1999), watched literals, weights of
columns that fade, restarts and saved values (Moskewicz et al. 2001; Pipatsrisawat, Darwiche 2007).
Literals are bounds of integer columns, so that general integers need no binaries, and of the
objective's count (``grid``), so that it may be assumed to be small (``candidates``) and what is
learned from that holds without the assumption.
"""
