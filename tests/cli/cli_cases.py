"""What tests of the command line share besides fixtures."""

from dataclasses import fields

from sparse_tir.ops.spmm_schedule import Decisions

#: Features of the dense operand in most tests.
FEAT = 8
#: What the schedules of a width of whole vectors decide.
DECISIONS = {field.name for field in fields(Decisions)}
