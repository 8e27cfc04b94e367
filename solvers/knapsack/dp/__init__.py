"""Dynamic programmes over lists of undominated packings.

``states`` has the lists, what their packings are read back from, and the parts of lists that wait
for their turn; all programmes share these, that of multiple-choice problems too.

    core.py             from the break item outwards (Pisinger's core)
    gpu_lists/          the same on a GPU, for lists that grow long
    heavy_first.py      from the heaviest item to the lightest
    clusters.py         up through clusters of weights
    tables/             tables over all capacities or profits, for lists that grow longer than these
"""
