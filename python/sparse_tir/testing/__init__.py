"""What tests need: awkward structure, random programs and schedules, and ways to run one program that must agree.

Only tests import this package; it needs hypothesis.
"""
