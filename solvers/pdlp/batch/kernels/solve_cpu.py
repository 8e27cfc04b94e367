"""Twin of solve.cu, an LP after the other; also what solves batches where there is no GPU.

Vectors of an LP stand in two arrays, ``by_column`` (9, n) and ``by_row`` (9, m), in scaled space.
There is no queue here: a caller that has to stop puts a negative number into ``queue``.
"""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.batch.answer import NOT_REACHED
from solvers.kernels.twin import compiled, twin

# by_column and by_row
POINT, ANCHOR, PROJECTED, MIRRORED, STEP, COST, LOWER, UPPER, SCALE = range(9)
# by_row has no cost and no mirrored point: products go there
PRODUCT, TRIAL = MIRRORED, COST

# sums of a check
PRIMAL, DUAL, VALUE, SUPPORT, X_TRAVEL, Y_TRAVEL, X_STEP, Y_STEP, CROSS = range(9)

# parameters, in the order of settings.Parameters
TOLERANCE, NORM, STEP_FRACTION, NORM_MARGIN, SUFFICIENT, NECESSARY, ARTIFICIAL = range(7)
PROPORTIONAL, INTEGRAL, MEMORY, VERTEX_FROM, PIVOT, RAY_LEFTOVER, RAY_MARGIN, RAY_FROM = range(
    7, 15
)
PRIMAL_RAY_LEFTOVER = 15

LIMIT, CONVERGED, DUAL_RAY, PRIMAL_RAY, TROUBLE, VERTEX = range(6)


@compiled
def _copy(vectors, source, target):
    """Copy one vector to another, in a loop: assigning slices takes seconds to compile."""
    for j in range(vectors.shape[1]):
        vectors[target, j] = vectors[source, j]


@compiled
def _multiply(starts, indices, values, vector, product):
    for i in range(product.size):
        total = 0.0
        for entry in range(starts[i], starts[i + 1]):
            total += values[entry] * vector[indices[entry]]
        product[i] = total


@compiled
def _scale_rows(starts, indices, values, own, other, by_sum):
    """Return the inverse root of each row's largest magnitude or, by_sum, of their sum."""
    factor = np.ones(own.size)
    for i in range(own.size):
        size = 0.0
        for entry in range(starts[i], starts[i + 1]):
            magnitude = abs(values[entry]) * own[i] * other[indices[entry]]
            size = size + magnitude if by_sum else max(size, magnitude)
        if size > 0.0 and np.isfinite(size):
            factor[i] = 1.0 / np.sqrt(size)
    return factor


@compiled
def _scale(A, B, row, column, passes):
    """Ruiz passes and one of Pock and Chambolle, on top of the scales that are there."""
    for number in range(passes + 1):
        by_sum = number == passes
        of_rows = _scale_rows(A[0], A[1], A[2], row, column, by_sum)
        of_columns = _scale_rows(B[0], B[1], B[2], column, row, by_sum)
        for i in range(row.size):
            row[i] *= of_rows[i]
        for j in range(column.size):
            column[j] *= of_columns[j]


@compiled
def _norm(A, B, rows, columns, iterations, margin):
    """Return ||A||_2 by a few power iterations with a margin, at most the 1 that scaling grants."""
    q, image, by_columns = np.empty(rows), np.empty(rows), np.empty(columns)
    for i in range(rows):
        q[i] = ((i + 1) * 2654435761 % 4294967296) / 4294967296.0 - 0.5
    eigenvalue = 0.0
    for _ in range(iterations):
        length = 0.0
        for i in range(rows):
            length += q[i] * q[i]
        length = np.sqrt(length)
        if not length > 0.0:
            return 1.0
        for i in range(rows):
            q[i] /= length
        _multiply(B[0], B[1], B[2], q, by_columns)
        _multiply(A[0], A[1], A[2], by_columns, image)
        eigenvalue = 0.0
        for i in range(rows):
            eigenvalue += q[i] * image[i]
            q[i] = image[i]
    return min(1.0, margin * np.sqrt(eigenvalue)) if eigenvalue > 0.0 else 1.0


@compiled
def _iterate(A, B, by_column, by_row, tau, sigma, k):
    """One step; PROJECTED and STEP get the projected point and the reflected minus the current."""
    x, y = by_column[POINT], by_row[POINT]
    weight = (k + 1.0) / (k + 2.0)
    for j in range(x.size):
        product = 0.0
        for entry in range(B[0][j], B[0][j + 1]):
            product += B[2][entry] * y[B[1][entry]]
        free_step = x[j] - tau * (by_column[COST, j] - product)
        projected = min(max(free_step, by_column[LOWER, j]), by_column[UPPER, j])
        mirrored = 2.0 * projected - x[j]
        by_column[PROJECTED, j] = projected
        by_column[MIRRORED, j] = mirrored
        by_column[STEP, j] = mirrored - x[j]
        x[j] = weight * mirrored + (1.0 - weight) * by_column[ANCHOR, j]
    mirrored_x = by_column[MIRRORED]
    for i in range(y.size):
        product = 0.0
        for entry in range(A[0][i], A[0][i + 1]):
            product += A[2][entry] * mirrored_x[A[1][entry]]
        free_step = y[i] - sigma * product
        low, high = -sigma * by_row[UPPER, i], -sigma * by_row[LOWER, i]
        projected = free_step - min(max(free_step, low), high)
        mirrored = 2.0 * projected - y[i]
        by_row[PROJECTED, i] = projected
        by_row[STEP, i] = mirrored - y[i]
        y[i] = weight * mirrored + (1.0 - weight) * by_row[ANCHOR, i]


@compiled
def _sum_steps(A, by_column, by_row, sums):
    """Put the sums of the fixed-point metric into ``sums``."""
    x_step, y_step = by_column[STEP], by_row[STEP]
    _multiply(A[0], A[1], A[2], x_step, by_row[PRODUCT])
    sums[X_STEP] = sums[Y_STEP] = sums[CROSS] = 0.0
    for j in range(x_step.size):
        sums[X_STEP] += x_step[j] * x_step[j]
    for i in range(y_step.size):
        sums[Y_STEP] += y_step[i] * y_step[i]
        sums[CROSS] += y_step[i] * by_row[PRODUCT, i]


@compiled
def _metric_squared(sums, omega, eta):
    return omega * sums[X_STEP] + sums[Y_STEP] / omega + 2.0 * eta * sums[CROSS]


@compiled
def _sum_rows(A, by_column, by_row, x, y, sums):
    """Add the rows' part to the residuals and objectives of (x, y), and the way from the anchor."""
    _multiply(A[0], A[1], A[2], x, by_row[PRODUCT])
    for i in range(y.size):
        activity, low, high = by_row[PRODUCT, i], by_row[LOWER, i], by_row[UPPER, i]
        outside = (activity - min(max(activity, low), high)) / by_row[SCALE, i]
        sums[PRIMAL] += outside * outside
        if y[i] != 0.0:
            sums[SUPPORT] += y[i] * (low if y[i] > 0.0 else high)
        travel = y[i] - by_row[ANCHOR, i]
        sums[Y_TRAVEL] += travel * travel


@compiled
def _sum_columns(B, by_column, x, y, sums):
    """Add the columns' part; x is within its bounds."""
    for j in range(x.size):
        reduced = by_column[COST, j]
        for entry in range(B[0][j], B[0][j + 1]):
            reduced -= B[2][entry] * y[B[1][entry]]
        side = by_column[LOWER, j] if reduced > 0.0 else by_column[UPPER, j]
        if np.isfinite(side):
            sums[SUPPORT] += reduced * side
        else:
            wrong = reduced / by_column[SCALE, j]
            sums[DUAL] += wrong * wrong
        sums[VALUE] += by_column[COST, j] * x[j]
        travel = x[j] - by_column[ANCHOR, j]
        sums[X_TRAVEL] += travel * travel


@compiled
def _errors(A, B, by_column, by_row, x, y, scales, sums):
    """Return the relative primal residual, dual residual and gap of (x, y)."""
    sums[PRIMAL] = sums[DUAL] = sums[VALUE] = sums[SUPPORT] = sums[X_TRAVEL] = sums[Y_TRAVEL] = 0.0
    _sum_rows(A, by_column, by_row, x, y, sums)
    _sum_columns(B, by_column, x, y, sums)
    side_norm, cost_norm, offset = scales
    value, support = sums[VALUE] + offset, sums[SUPPORT] + offset
    gap = abs(value - support) / (1.0 + abs(value) + abs(support))
    return np.sqrt(sums[PRIMAL]) / (1.0 + side_norm), np.sqrt(sums[DUAL]) / (1.0 + cost_norm), gap


@compiled
def _dual_ray(B, by_column, by_row, leftover_share, margin):
    """Whether the dual step, put into TRIAL without what leans on nothing, looks like a ray."""
    ray = by_row[TRIAL]
    largest = gain = size = 0.0
    for i in range(ray.size):
        step = by_row[STEP, i]
        side = by_row[LOWER, i] if step > 0.0 else by_row[UPPER, i]
        ray[i] = step if np.isfinite(side) else 0.0
        largest = max(largest, abs(ray[i]))
        term = ray[i] * side if ray[i] != 0.0 else 0.0
        gain += term
        size += abs(term)
    leftover = 0.0
    for j in range(by_column.shape[1]):
        pull = 0.0
        for entry in range(B[0][j], B[0][j + 1]):
            pull += B[2][entry] * ray[B[1][entry]]
        side = by_column[UPPER, j] if pull > 0.0 else by_column[LOWER, j]
        if np.isfinite(side):
            gain -= pull * side
            size += abs(pull * side)
        else:
            leftover = max(leftover, abs(pull))
    return leftover <= leftover_share * largest and gain > margin * (largest + size)


@compiled
def _primal_ray(A, by_column, by_row, leftover_share, margin):
    """Whether one could go on along the primal step for ever at falling cost."""
    ray = by_column[MIRRORED]
    largest = slope = size = 0.0
    for j in range(ray.size):
        step = by_column[STEP, j]
        ray[j] = (
            0.0 if np.isfinite(by_column[UPPER, j] if step > 0.0 else by_column[LOWER, j]) else step
        )
        largest = max(largest, abs(ray[j]))
        slope += by_column[COST, j] * ray[j]
        size += abs(by_column[COST, j] * ray[j])
    _multiply(A[0], A[1], A[2], ray, by_row[PRODUCT])
    leftover = 0.0
    for i in range(by_row.shape[1]):
        moved = by_row[PRODUCT, i]
        if np.isfinite(by_row[UPPER, i] if moved > 0.0 else by_row[LOWER, i]):
            leftover = max(leftover, abs(moved))
    return leftover <= leftover_share * largest and -slope > margin * (largest + size)


@compiled
def _basis(by_column, by_row, inside, active):
    """Find the columns off their bounds and the rows with duals; return counts and signature."""
    n, m = by_column.shape[1], by_row.shape[1]
    columns = rows = 0
    signature = 0
    for j in range(n):
        value = by_column[PROJECTED, j]
        if by_column[LOWER, j] < value < by_column[UPPER, j]:
            inside[columns] = j
            columns += 1
            signature = (signature + (j + 1) * 2654435761) % 4294967296
    for i in range(m):
        if by_row[PROJECTED, i] != 0.0:
            active[rows] = i
            rows += 1
            side = 1 if by_row[PROJECTED, i] > 0.0 else 2
            signature = (signature + (n + 2 * i + side) * 2246822519) % 4294967296
    return columns, rows, signature


@compiled
def _pivot_row(M, p, size):
    """Return the first row from p on with the largest magnitude in column p."""
    pivot = p
    for i in range(p + 1, size):
        if abs(M[i, p]) > abs(M[pivot, p]):
            pivot = i
    return pivot


@compiled
def _invert(M, size, smallest):
    """Invert M[:size, :size] in place by Gauss-Jordan with row pivoting; whether it went."""
    swapped = np.empty(size, np.int64)
    factor = np.empty(size)
    for p in range(size):
        pivot = _pivot_row(M, p, size)
        swapped[p] = pivot
        if not abs(M[pivot, p]) > smallest:
            return False
        for j in range(size):
            M[p, j], M[pivot, j] = M[pivot, j], M[p, j]
        inverse = 1.0 / M[p, p]
        M[p, p] = 1.0
        for j in range(size):
            M[p, j] *= inverse
        for i in range(size):
            factor[i] = M[i, p]
        for i in range(size):
            if i != p:
                M[i, p] = 0.0
                for j in range(size):
                    M[i, j] -= factor[i] * M[p, j]
    for p in range(size - 1, -1, -1):
        for i in range(size):
            M[i, p], M[i, swapped[p]] = M[i, swapped[p]], M[i, p]
    return True


@compiled
def _basis_matrix(A, columns, inside, active, size):
    """Return the part of A, (size, size), in the rows and columns of a basis."""
    place = np.full(columns, -1)
    for s in range(size):
        place[inside[s]] = s
    M = np.zeros((size, size))
    for r in range(size):
        for entry in range(A[0][active[r]], A[0][active[r] + 1]):
            if place[A[1][entry]] >= 0:
                M[r, place[A[1][entry]]] = A[2][entry]
    return M


@compiled
def _refine(A, B, by_column, by_row, inside, active, M, residual):
    """Bring active rows to their sides and reduced costs inside to zero, with the inverse M."""
    x, y = by_column[STEP], by_row[TRIAL]
    size = residual.size
    _multiply(A[0], A[1], A[2], x, by_row[PRODUCT])
    for r in range(size):
        i = active[r]
        side = by_row[LOWER, i] if by_row[PROJECTED, i] > 0.0 else by_row[UPPER, i]
        residual[r] = side - by_row[PRODUCT, i]
    for s in range(size):
        for r in range(size):
            x[inside[s]] += M[s, r] * residual[r]
    for s in range(size):
        j = inside[s]
        residual[s] = by_column[COST, j]
        for entry in range(B[0][j], B[0][j + 1]):
            residual[s] -= B[2][entry] * y[B[1][entry]]
    for r in range(size):
        for s in range(size):
            y[active[r]] += M[s, r] * residual[s]


@compiled
def _vertex(A, B, by_column, by_row, inside, active, size, smallest):
    """Put the vertex of a basis into STEP (x) and TRIAL (y); whether the basis is regular."""
    x, y = by_column[STEP], by_row[TRIAL]
    M = _basis_matrix(A, x.size, inside, active, size)
    if not _invert(M, size, smallest):
        return False
    _copy(by_column, PROJECTED, STEP)
    for i in range(y.size):
        y[i] = 0.0
    for s in range(size):
        x[inside[s]] = 0.0
    residual = np.empty(size)
    for _ in range(2):  # the second makes up for what Gauss-Jordan loses
        _refine(A, B, by_column, by_row, inside, active, M, residual)
    for j in range(x.size):
        x[j] = min(max(x[j], by_column[LOWER, j]), by_column[UPPER, j])
    for i in range(y.size):
        if not np.isfinite(by_row[LOWER, i] if y[i] > 0.0 else by_row[UPPER, i]):
            y[i] = 0.0
    return True


@compiled
def _next_weight(omega, balance, sums, primal, dual, parameters):
    """Return the weight for the next epoch; ``balance`` is (best weight, its imbalance, sum)."""
    x_travel, y_travel = np.sqrt(sums[X_TRAVEL]), np.sqrt(sums[Y_TRAVEL])
    telling = 1e-16 < x_travel < 1e12 and 1e-16 < y_travel < 1e12
    if primal > 0.0 and dual > 0.0 and abs(np.log10(dual / primal)) > 8.0:
        telling = False
    if not telling:
        balance[2] = 0.0
        return balance[0]
    error = np.log(y_travel) - np.log(x_travel) - np.log(omega)
    balance[2] = parameters[MEMORY] * balance[2] + error
    change = parameters[PROPORTIONAL] * error + parameters[INTEGRAL] * balance[2]
    return omega * np.exp(change)


@compiled
def _restart(by_column, by_row):
    for vectors in (by_column, by_row):
        _copy(vectors, PROJECTED, POINT)
        _copy(vectors, PROJECTED, ANCHOR)


@compiled
def _load_columns(by_column, cost, lower, upper, x0, column_starts):
    """Scale cost, bounds and start; return the norms of the cost, unscaled and scaled."""
    norm = scaled = 0.0
    for j in range(cost.size):
        scale = by_column[SCALE, j]
        by_column[COST, j] = cost[j] * scale
        by_column[LOWER, j] = lower[j] / scale
        by_column[UPPER, j] = upper[j] / scale
        start = x0[j] / scale
        if column_starts[j] == column_starts[j + 1] and cost[j] != 0.0:
            preferred = by_column[LOWER, j] if cost[j] > 0.0 else by_column[UPPER, j]
            start = preferred if np.isfinite(preferred) else start
        start = min(max(start, by_column[LOWER, j]), by_column[UPPER, j])
        by_column[POINT, j] = by_column[ANCHOR, j] = by_column[PROJECTED, j] = start
        norm += cost[j] * cost[j]
        scaled += by_column[COST, j] ** 2
    return np.sqrt(norm), np.sqrt(scaled)


@compiled
def _load_rows(by_row, row_lower, row_upper, y0):
    """Scale sides and start; return the norms of the sides, unscaled and scaled."""
    norm = scaled = 0.0
    for i in range(row_lower.size):
        low, high, scale = row_lower[i], row_upper[i], by_row[SCALE, i]
        by_row[LOWER, i] = low * scale
        by_row[UPPER, i] = high * scale
        start = y0[i] / scale
        if not np.isfinite(low if start > 0.0 else high):
            start = 0.0
        by_row[POINT, i] = by_row[ANCHOR, i] = by_row[PROJECTED, i] = start
        size = 0.0
        if np.isfinite(low):
            size = abs(low)
            scaled += by_row[LOWER, i] ** 2
        if np.isfinite(high):
            size = max(size, abs(high))
            scaled += 0.0 if low == high else by_row[UPPER, i] ** 2
        norm += size * size
    return np.sqrt(norm), np.sqrt(scaled)


@compiled
def _vertex_errors(A, B, by_column, by_row, found, scales, parameters, sums):
    """Try the basis unless it is not square, moving or known; return the worst of its errors.

    ``found`` is (inside, active, state) with state (limit, signature before, signature tried).
    """
    inside, active, state = found
    columns, rows, signature = _basis(by_column, by_row, inside, active)
    stands = signature == state[1]
    state[1] = signature
    if not stands or columns != rows or columns > state[0] or signature == state[2]:
        return np.inf
    state[2] = signature
    if not _vertex(A, B, by_column, by_row, inside, active, columns, parameters[PIVOT]):
        return np.inf
    primal, dual, gap = _errors(
        A, B, by_column, by_row, by_column[STEP], by_row[TRIAL], scales, sums
    )
    return max(primal, dual, gap)


@compiled
def _run(  # noqa: C901  the loop, with every way to end it
    A, B, by_column, by_row, scales, omega, eta, parameters, limit, interval, vertex_limit, queue
):
    """Iterate to the end; return status and iterations. The point is in PROJECTED."""
    sums, balance = np.zeros(9), np.array([omega, np.inf, 0.0])
    first = previous = np.inf
    total = k = checks = 0
    found = (
        np.empty(by_column.shape[1], np.int64),
        np.empty(by_row.shape[1], np.int64),
        np.array([vertex_limit, -1, -1]),
    )
    while total < limit and queue[0] >= 0:
        for _ in range(min(interval, limit - total)):
            _iterate(A, B, by_column, by_row, eta / omega, eta * omega, k)
            if k == 0:
                _sum_steps(A, by_column, by_row, sums)
                first = np.sqrt(max(0.0, _metric_squared(sums, omega, eta)))
                previous = np.inf
            k += 1
        total += min(interval, limit - total)
        checks += 1
        x, y = by_column[PROJECTED], by_row[PROJECTED]
        primal, dual, gap = _errors(A, B, by_column, by_row, x, y, scales, sums)
        worst = max(primal, dual, gap)
        _sum_steps(A, by_column, by_row, sums)
        squared = _metric_squared(sums, omega, eta)
        if not (np.isfinite(worst) and np.isfinite(squared)):
            return TROUBLE, total
        if worst <= parameters[TOLERANCE]:
            return CONVERGED, total
        travelled = sums[X_TRAVEL], sums[Y_TRAVEL]
        if checks % 5 == 0 and total >= parameters[RAY_FROM]:
            if _dual_ray(B, by_column, by_row, parameters[RAY_LEFTOVER], parameters[RAY_MARGIN]):
                _copy(by_row, TRIAL, PROJECTED)
                return DUAL_RAY, total
            leftover = parameters[PRIMAL_RAY_LEFTOVER]
            if _primal_ray(A, by_column, by_row, leftover, parameters[RAY_MARGIN]):
                return PRIMAL_RAY, total
        if worst <= parameters[VERTEX_FROM]:
            worst = _vertex_errors(A, B, by_column, by_row, found, scales, parameters, sums)
            if worst <= parameters[TOLERANCE]:
                _copy(by_column, STEP, PROJECTED)
                _copy(by_row, TRIAL, PROJECTED)
                return VERTEX, total
        sums[X_TRAVEL], sums[Y_TRAVEL] = travelled
        if primal > 0.0 and dual > 0.0 and abs(np.log10(dual / primal)) < balance[1]:
            balance[0], balance[1] = omega, abs(np.log10(dual / primal))
        metric = np.sqrt(max(0.0, squared))
        if squared < 0.0:
            eta /= parameters[NORM_MARGIN]
        due = checks == 1 or metric <= parameters[SUFFICIENT] * first
        due = due or (metric <= parameters[NECESSARY] * first and metric > previous)
        due = due or k >= parameters[ARTIFICIAL] * total
        previous = metric
        if due:
            omega = _next_weight(omega, balance, sums, primal, dual, parameters)
            _restart(by_column, by_row)
            k = 0
    return LIMIT, total


@compiled
def _row(values, width, p, varying, bit):
    """Return the row that LP p has of an array, by the array's bit."""
    first = p * width if (varying >> bit) & 1 else 0
    return values[first : first + width]


@compiled
def _matrix(starts, indices, column_starts, column_rows, column_entries, own):
    """Return A by rows and by columns."""
    return (starts, indices, own), (column_starts, column_rows, own[column_entries])


@compiled
def _scale_entries(matrix, own, other):
    for i in range(own.size):
        for entry in range(matrix[0][i], matrix[0][i + 1]):
            matrix[2][entry] *= own[i] * other[matrix[1][entry]]


@compiled
def _solve_one(
    p, rows, columns, starts, indices, column_starts, column_rows, column_entries, varying,
    values, cost, lower, upper, row_lower, row_upper, offset, x0, y0, row_scale, column_scale,
    parameters, ruiz_passes, power_iterations, iteration_limit, check_interval, vertex_limit, queue,
    x, y,
):  # fmt: skip
    """Solve LP p; fill its x (n,) and y (m,), return its status and iterations."""
    own = _row(values, indices.size, p, varying, 0).copy()
    A, B = _matrix(starts, indices, column_starts, column_rows, column_entries, own)
    by_column, by_row = np.zeros((9, columns)), np.zeros((9, rows))
    for j in range(columns):
        by_column[SCALE, j] = column_scale[j]
    for i in range(rows):
        by_row[SCALE, i] = row_scale[i]
    norm = parameters[NORM]
    if not norm > 0.0:
        _scale(A, B, by_row[SCALE], by_column[SCALE], ruiz_passes)
    _scale_entries(A, by_row[SCALE], by_column[SCALE])
    _scale_entries(B, by_column[SCALE], by_row[SCALE])
    if not norm > 0.0:
        norm = _norm(A, B, rows, columns, power_iterations, parameters[NORM_MARGIN])
    low = _row(lower, columns, p, varying, 2)
    high = _row(upper, columns, p, varying, 3)
    price = _row(cost, columns, p, varying, 1)
    start = _row(x0, columns, p, varying, 7)
    cost_norm, scaled_cost = _load_columns(by_column, price, low, high, start, column_starts)
    a, b = _row(row_lower, rows, p, varying, 4), _row(row_upper, rows, p, varying, 5)
    side_norm, scaled_sides = _load_rows(by_row, a, b, _row(y0, rows, p, varying, 8))
    omega = (1.0 + scaled_cost) / (1.0 + scaled_sides)
    constant = _row(offset, 1, p, varying, 6)[0]
    ended = _run(
        A, B, by_column, by_row, (side_norm, cost_norm, constant), omega,
        parameters[STEP_FRACTION] / norm, parameters, iteration_limit, check_interval,
        vertex_limit, queue,
    )  # fmt: skip
    for j in range(columns):
        point = by_column[PROJECTED, j] * by_column[SCALE, j]
        x[j] = min(max(point, low[j]), high[j])
    for i in range(rows):
        y[i] = by_row[PROJECTED, i] * by_row[SCALE, i]
    return ended


@twin
def solve(
    count, rows, columns, starts, indices, column_starts, column_rows, column_entries, varying,
    values, cost, lower, upper, row_lower, row_upper, offset, x0, y0, row_scale, column_scale,
    parameters, ruiz_passes, power_iterations, iteration_limit, check_interval, vertex_limit,
    storage, leading, vertex_shared, block, blocks, shared, scratch_step, scratch, queue,
    x, y, status, iterations,
):  # fmt: skip
    """Solve ``count`` LPs of ``rows`` by ``columns``."""
    for number in prange(count):
        p = np.int64(number)
        if queue[0] < 0:
            status[p], iterations[p] = NOT_REACHED, 0
            for j in range(p * columns, (p + 1) * columns):
                x[j] = 0.0
            for i in range(p * rows, (p + 1) * rows):
                y[i] = 0.0
            continue
        status[p], iterations[p] = _solve_one(
            p, rows, columns, starts, indices, column_starts, column_rows, column_entries, varying,
            values, cost, lower, upper, row_lower, row_upper, offset, x0, y0, row_scale,
            column_scale, parameters, ruiz_passes, power_iterations, iteration_limit,
            check_interval, vertex_limit, queue, x[p * columns : (p + 1) * columns],
            y[p * rows : (p + 1) * rows],
        )  # fmt: skip
