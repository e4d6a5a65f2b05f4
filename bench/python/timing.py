# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder have in common."""
import sys
import time

import numpy as np

RTOL = 1e-8
SMALL = "--small" in sys.argv


def least(work, times=3):
    """The least seconds of some calls, and the result of the last one."""
    seconds, result = np.inf, None
    for _ in range(times):
        begin = time.perf_counter()
        result = work()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, result
