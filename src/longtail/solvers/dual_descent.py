"""Many linear classifiers over the same documents at once, by dual coordinate descent.

One-vs-rest problems that share their documents (the children of a tree node, the labels of a cluster) are
solved side by side: the weights are a matrix features x labels, so that a document's scores for all labels
are sums of contiguous rows, which the processor does eight at a time. Each label still gets exactly its own
descent: Hsieh et al., ICML 2008 (squared hinge) and Yu et al., Machine Learning 2011 (logistic).
"""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel

SQUARED_HINGE, LOGISTIC = 0, 1


@kernel(fastmath=True)
def solve(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    n_features: int,
    positive_ptr: np.ndarray,
    positive: np.ndarray,
    n_labels: int,
    loss: int,
    cost: float,
    bias: float,
    tolerance: float,
    max_passes: int,
    seed: int,
) -> np.ndarray:
    """Minimise |w|^2 / 2 + cost * sum of losses for each label; the last row of the answer is the bias.

    Documents that violate no label's optimality by more than ``tolerance`` rest until all others are settled;
    then all are looked at again.

    Shapes:
        indptr, indices, data: documents x features (CSR)
        positive_ptr, positive: the labels of each document (CSR without data)
        returns weights float32 [n_features + 1, n_labels]
    """
    n = len(indptr) - 1
    weights = np.zeros((n_features + 1, n_labels), np.float32)
    # The squared hinge keeps alpha itself, the logistic loss its logit, from about zero: both with weights 0.
    dual = np.full((n, n_labels), 0 if loss == SQUARED_HINGE else -30, np.float32)
    scores = np.empty(n_labels, np.float32)
    steps = np.empty(n_labels, np.float32)
    changed = np.empty(n_labels, np.int64)
    # Far smaller violations than the tolerance are not worth touching the weights for.
    negligible = np.float32(0.1 * tolerance)
    sign = np.full(n_labels, -1, np.float32)
    squares = np.empty(n, np.float32)
    for i in range(n):
        total = np.float32(bias * bias)
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * data[p]
        squares[i] = total

    np.random.seed(seed)
    active = np.arange(n)
    n_active = n
    for _ in range(max_passes):
        for i in range(n_active - 1, 0, -1):
            j = np.random.randint(i + 1)
            active[i], active[j] = active[j], active[i]
        everyone = n_active == n
        restless = 0
        for a in range(n_active):
            i = active[a]
            first, last = indptr[i], indptr[i + 1]
            constant = weights[n_features]
            for c in range(n_labels):
                scores[c] = bias * constant[c]
            for p in range(first, last):
                row, value = weights[indices[p]], data[p]
                for c in range(n_labels):
                    scores[c] += value * row[c]
            for p in range(positive_ptr[i], positive_ptr[i + 1]):
                sign[positive[p]] = 1
            if loss == SQUARED_HINGE:
                worst = _hinge_steps(
                    scores, sign, dual[i], squares[i], np.float32(0.5 / cost), negligible, steps
                )
            else:
                worst = _logistic_steps(scores, sign, dual[i], squares[i], np.float32(cost), steps)
            for p in range(positive_ptr[i], positive_ptr[i + 1]):
                sign[positive[p]] = -1
            n_changed = 0
            for c in range(n_labels):
                if steps[c] != 0:
                    changed[n_changed] = c
                    n_changed += 1
            if n_changed * 4 > n_labels:
                for c in range(n_labels):
                    constant[c] += bias * steps[c]
                for p in range(first, last):
                    row, value = weights[indices[p]], data[p]
                    for c in range(n_labels):
                        row[c] += value * steps[c]
            elif n_changed:
                # After a pass or two few labels change: then single additions beat whole rows.
                for j in range(n_changed):
                    constant[changed[j]] += bias * steps[changed[j]]
                for p in range(first, last):
                    row, value = weights[indices[p]], data[p]
                    for j in range(n_changed):
                        row[changed[j]] += value * steps[changed[j]]
            if worst > tolerance:
                # The restless ones gather in front; the order is shuffled anew for each pass anyway.
                active[a], active[restless] = active[restless], active[a]
                restless += 1
        if restless:
            n_active = restless
        elif everyone:
            break
        else:
            n_active = n
    return weights


@kernel(fastmath=True)
def _hinge_steps(
    scores: np.ndarray,
    sign: np.ndarray,
    alpha: np.ndarray,
    square: np.float32,
    slack: np.float32,
    negligible: np.float32,
    steps: np.ndarray,
) -> np.float32:
    """One exact coordinate step a label (in ``alpha`` and ``steps``); returns the largest violation."""
    worst = np.float32(0)
    scale = np.float32(1) / (square + slack)
    for c in range(len(scores)):
        old = alpha[c]
        gradient = sign[c] * scores[c] - np.float32(1) + old * slack
        new = max(old - gradient * scale, np.float32(0))
        # At alpha = 0 a gradient that points outward is no violation.
        violation = abs(gradient) if old > 0 else -gradient
        worst = max(worst, violation)
        new = new if violation > negligible else old
        alpha[c] = new
        steps[c] = (new - old) * sign[c]
    return worst


@kernel(fastmath=True)
def _logistic_steps(
    scores: np.ndarray,
    sign: np.ndarray,
    logit: np.ndarray,
    square: np.float32,
    cost: np.float32,
    steps: np.ndarray,
) -> np.float32:
    """A few Newton steps a label on the dual of the logistic loss; returns the largest violation.

    With alpha = cost * sigmoid(u), the optimum is where u + y s(u) = 0, s being the score under that alpha. In u
    this is a gentle, rising function; its root lies between the two values for alpha = cost and alpha = 0.
    The violation is ten times the error of the probability: the same tolerance suits both losses.
    """
    worst = np.float32(0)
    one = np.float32(1)
    for c in range(len(scores)):
        u = logit[c]
        old = cost / (one + np.exp(-u))
        linear = sign[c] * scores[c]
        worst = max(worst, np.float32(10) * abs(old / cost - one / (one + np.exp(linear))))
        low, high = -linear - square * (cost - old), -linear + square * old
        u = min(max(u, low), high)
        for _ in range(8):
            share = one / (one + np.exp(-u))
            excess = u + linear + square * (cost * share - old)
            if excess > 0:
                high = u
            else:
                low = u
            nxt = u - excess / (one + square * cost * share * (one - share))
            if not low <= nxt <= high:
                nxt = (low + high) / np.float32(2)
            settled = abs(nxt - u) < np.float32(1e-3)
            u = nxt
            if settled:
                break
        logit[c] = u
        steps[c] = (cost / (one + np.exp(-u)) - old) * sign[c]
    return worst
