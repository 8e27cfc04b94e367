"""Ray: joining a cluster, calling our functions on its nodes, and what solves there share.

Nothing here knows what is solved. ``batch/on_cluster.py`` sends many models, and
``pipeline/routes/cluster.py`` one mixed-integer model to many members of a portfolio.
"""
