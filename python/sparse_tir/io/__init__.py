"""Reading matrices from files."""

from sparse_tir.io.loader import load_matrix

__all__ = ["load_matrix"]
