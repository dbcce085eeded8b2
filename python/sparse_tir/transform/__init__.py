"""Passes and the pipeline that they form."""

from .passes import ExpandCombine, LegalizeArithmetic, LowerSparseBuffer, LowerSparseIter, PlaceInit
from .pipeline import PIPELINE, STAGES, Step, lower, stage_of

__all__ = [
    "PIPELINE",
    "STAGES",
    "ExpandCombine",
    "LegalizeArithmetic",
    "LowerSparseBuffer",
    "LowerSparseIter",
    "PlaceInit",
    "Step",
    "lower",
    "stage_of",
]
