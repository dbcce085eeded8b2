"""What tests of the command line share besides fixtures."""

#: Features of the dense operand in most tests.
FEAT = 8
