"""``python -m sparse_tir.cli``."""

from .main import main

main(prog_name="sparse-tir")
