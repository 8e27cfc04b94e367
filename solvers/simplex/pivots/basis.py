"""PROTOTYPE dense inverse."""
from typing import NamedTuple
import numpy as np
from solvers.kernels.twin import compiled

class Arrays(NamedTuple):
    inverse: np.ndarray

class Repaired(NamedTuple):
    positions: np.ndarray
    logicals: np.ndarray

class BasisFactor:
    def __init__(self, form):
        self.form = form
        m = form.num_rows
        import scipy.sparse as sp
        A = sp.csc_array((form.columns.values, form.columns.indices, form.columns.starts), shape=(m, form.num_structurals))
        self.full = sp.hstack([A, -sp.eye_array(m)]).tocsc() if m else None
        self.arrays = Arrays(np.zeros((m, m)))
    def factorise(self, basic):
        m = self.form.num_rows
        bad = np.zeros(0, np.int64); lg = np.zeros(0, np.int64)
        if m:
            import scipy.linalg as sl
            B = self.full[:, basic].toarray()
            # rank by column pivoting only if singular
            lu = None
            try:
                with np.errstate(all="ignore"):
                    inv = np.linalg.inv(B)
                ok = np.isfinite(inv).all() and np.abs(B @ inv - np.eye(m)).max() < 1e-3
            except np.linalg.LinAlgError:
                ok = False
            if not ok:
                q, r, piv = sl.qr(B, pivoting=True)
                d = np.abs(np.diag(r)); rank = int((d > 1e-11 * max(d[0], 1)).sum())
                bad = np.sort(piv[rank:]).astype(np.int64)
                # rows not covered
                keep = piv[:rank]
                q2, r2, rp = sl.qr(B[:, keep].T, pivoting=True)
                lg = np.sort(rp[rank:]).astype(np.int64)
                B = B.copy(); B[:, bad] = 0; B[lg, bad] = -1
                inv = np.linalg.inv(B)
            self.arrays.inverse[:] = inv
        return Repaired(bad, lg)

@compiled
def _dense(vector, out, pattern):
    count = 0
    for i in range(out.size):
        vector[i] = out[i] if abs(out[i]) > 1e-14 else 0.0
        if vector[i] != 0.0:
            pattern[count] = i
            count += 1
    return count

@compiled
def ftran(factor, vector, pattern, count):
    m = vector.size
    out = np.zeros(m)
    for k in range(count):
        j = pattern[k]
        v = vector[j]
        for i in range(m):
            out[i] += factor.inverse[i, j] * v
    return _dense(vector, out, pattern)

@compiled
def ftran_entering(factor, vector, pattern, count):
    return ftran(factor, vector, pattern, count)

@compiled
def btran(factor, vector, pattern, count):
    m = vector.size
    out = np.zeros(m)
    for k in range(count):
        j = pattern[k]
        v = vector[j]
        for i in range(m):
            out[i] += factor.inverse[j, i] * v
    return _dense(vector, out, pattern)

@compiled
def update(factor, place, vector, pattern, count):
    m = vector.size
    row = factor.inverse[place] / vector[place]
    for k in range(count):
        i = pattern[k]
        if i != place:
            a = vector[i]
            for j in range(m):
                factor.inverse[i, j] -= a * row[j]
    for j in range(m):
        factor.inverse[place, j] = row[j]
    return 0
