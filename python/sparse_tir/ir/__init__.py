"""The dialect's nodes: axes, sparse buffers and sparse iterations."""

from .. import _base
from .axis import Axis, DenseFixedAxis, DenseVariableAxis, SparseFixedAxis, SparseVariableAxis
from .sparse_buffer import SparseBuffer
from .sparse_iteration import SparseIteration, SparseIterator, iterations, outermost_statements, statements

__all__ = [
    "Axis",
    "DenseFixedAxis",
    "DenseVariableAxis",
    "SparseBuffer",
    "SparseFixedAxis",
    "SparseIteration",
    "SparseIterator",
    "SparseVariableAxis",
    "iterations",
    "outermost_statements",
    "statements",
]

_ = _base.LIBRARY  # the node types live in the compiled library
