"""Time since this process started."""

from __future__ import annotations

import os
import time
from pathlib import Path

#: Of /proc/self/stat behind the name of the program: when it started, in ticks since the machine did.
_START = 19


def process_seconds() -> float:
    """Seconds since the system started this process, imports included."""
    stat = Path("/proc/self/stat")
    if stat.exists():
        ticks = int(stat.read_text().rpartition(")")[2].split()[_START])
        return float(time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    import psutil

    return float(time.time() - psutil.Process().create_time())
