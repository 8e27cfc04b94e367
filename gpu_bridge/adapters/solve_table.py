"""``gpu_bridge.solve_table``: a model of any package, solved for each row of a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from gpu_bridge.interrupt import solving

if TYPE_CHECKING:
    from gpu_bridge.adapters.table import TableResults


@solving()
def solve_table(
    model: Any, table: Any, *, streams: Sequence[TextIO] = (), **options: Any
) -> TableResults:
    """Solve a Pyomo, PuLP or linopy model once for each row of a table.

    Parameters
    ----------
    model : BlockData, LpProblem or linopy.Model
        It is the same afterwards: parameters have their old values again, and variables are not
        touched (see ``load`` of the results).
    table : mapping, list of mappings, or pandas.DataFrame
        Columns by what varies, with a number for each row. Of a Pyomo model these are mutable
        parameters: a name such as ``'demand[1]'``, or the name of an indexed parameter and a
        mapping from its indices to columns. In a ComponentMap the parameters themselves may
        stand for their names.
        PuLP and linopy have no parameters, so there a column is of a part of the model:
        ``'NAME.rhs'`` of a constraint, ``'NAME.cost'``, ``'NAME.lower'`` or ``'NAME.upper'`` of a
        variable, or a pair of names (constraint, variable) for a coefficient. A linopy column is a
        DataArray with the dimensions of that part and one of its own, the rows of the table; or
        an array with the table's rows first.
        A list holds a mapping from these keys to numbers for each row.
    streams : sequence of text streams
        Where log lines go.
    **options
        Those of :func:`gpu_bridge.solve_many`, which solves the rows: ``method='pdlp'``, or a
        GPU and enough rows, solve them together. ``time_limit`` is that of the whole call: no
        more than half of it goes to converting rows, and those left over are not reached.

    Returns
    -------
    TableResults
        ``objective`` and ``status`` with an entry for each row; ``value(variable)``,
        ``reduced_cost(variable)`` and ``dual(constraint)``; ``load(k)`` puts the values of a row
        into the model, and of Pyomo's its parameters, too. ``outcomes`` has all the rest.

    Raises
    ------
    ProblemError
        The table does not fit the model, or data is not usable.
    UnsupportedModelError
        A part of the model is not linear; the message names it.
    """
    if _is_a("linopy", "Model", model):
        from gpu_bridge.adapters.linopy.table import solve_linopy_table

        return solve_linopy_table(model, table, streams=streams, **options)
    if _is_a("pulp", "LpProblem", model):
        from gpu_bridge.adapters.pulp.table import solve_pulp_table

        return solve_pulp_table(model, table, streams=streams, **options)
    from gpu_bridge.adapters.pyomo.table import solve_pyomo_table

    return solve_pyomo_table(model, table, streams=streams, **options)


def _is_a(package: str, name: str, model: Any) -> bool:
    """Whether a model is of a class of a package; what nobody has imported has made no model."""
    module = sys.modules.get(package)
    return module is not None and isinstance(model, getattr(module, name))
