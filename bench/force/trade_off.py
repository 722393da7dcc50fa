"""What a threshold finds for the false alarms it costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.estimators.wrench_metrics import LEVELS, Series, detection, held

FALSE_SHARES = (0.001, 0.003, 0.01, 0.03)  # of the free time
OFF = 0.05  # s for which a flag is held


def trade_off(s: Series, significance: np.ndarray) -> dict[float, dict[str, float]]:
    """For each of FALSE_SHARES: the threshold of significance (N,) that this share of the free rows exceeds.

    And what is found beyond it (see `detection`), flags held for OFF seconds.
    """
    free, result = ~s.contact & np.isfinite(significance), {}
    for share in FALSE_SHARES if free.any() else ():
        ratio = float(np.quantile(significance[free], 1.0 - share))
        flagged = held(significance > ratio, s.stamps, OFF)
        found = replace(s, flagged=flagged)
        result[share] = {"ratio": ratio} | detection(found, LEVELS[0]) | detection(found, LEVELS[1])
    return result
