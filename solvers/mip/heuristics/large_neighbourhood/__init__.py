"""Large-neighbourhood search: parts of the model around the best point, solved by HiGHS.

``neighbourhoods`` has them in a table: functions from a ``Situation`` and a fix rate to a sub-MIP.
``bandit`` decides which to search next and how large, ``search`` has the loop. Several searches may
run side by side in threads and share one bandit.
"""
