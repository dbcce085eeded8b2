"""The report of a tuning job: plain data in, one self-contained HTML page out.

Nothing of this package is imported here: whoever has a job to report fills in `Report`.
"""

from __future__ import annotations

from .data import Candidate, Matrix, Report, Session, Timing, Winner
from .page import render

__all__ = ["Candidate", "Matrix", "Report", "Session", "Timing", "Winner", "render"]
