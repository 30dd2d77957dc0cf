"""Platt scaling (1999): probability = sigmoid(slope * score + intercept)."""

from __future__ import annotations

import numpy as np

STEPS = 50
"""Steps of Newton's method at most."""


def platt(scores: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """Slope (above 0) and intercept.

    The targets of n positives and m negatives are (n + 1) / (n + 2) and 1 / (m + 2), not 1 and 0. So probabilities
    stay away from 1, where different scores are equal float32 numbers, even if all positives score highest.

    Shapes:
        scores float32, positive bool [entries]
    """
    n, m = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))
    centre, spread = float(scores.mean(dtype=np.float64)), float(scores.std(dtype=np.float64)) + 1e-6
    x = (scores.astype(np.float64) - centre) / spread
    slope, intercept = 0.0, float(np.log((n + 1) / (m + 1)))
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(slope * x + intercept, -30, 30)))
        w = p * (1 - p) + 1e-9
        gradient = np.array([((p - target) * x).mean(), (p - target).mean()])
        hessian = np.array([[(w * x * x).mean(), (w * x).mean()], [(w * x).mean(), w.mean()]])
        step = np.linalg.solve(hessian + 1e-9 * np.eye(2), gradient)
        # A full step of Newton's method may overshoot where the classes are nearly separate.
        step *= min(1.0, 2.0 / (np.abs(step).max() + 1e-12))
        slope, intercept = slope - step[0], intercept - step[1]
        if np.abs(step).max() < 1e-8:
            break
    # The order of candidates never changes.
    slope = max(slope, 1e-3)
    return float(slope / spread), float(intercept - slope * centre / spread)
