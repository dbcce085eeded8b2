"""Passes and the pipeline that they form."""

from .passes import (
    ExpandCombine,
    InsertPrefetch,
    LegalizeArithmetic,
    LowerSparseBuffer,
    LowerSparseIter,
    PlaceInit,
    StreamStores,
    UnrollMasked,
)
from .pipeline import PIPELINE, STAGES, Step, lower, stage_of

__all__ = [
    "PIPELINE",
    "STAGES",
    "ExpandCombine",
    "InsertPrefetch",
    "LegalizeArithmetic",
    "LowerSparseBuffer",
    "LowerSparseIter",
    "PlaceInit",
    "Step",
    "StreamStores",
    "UnrollMasked",
    "lower",
    "stage_of",
]
