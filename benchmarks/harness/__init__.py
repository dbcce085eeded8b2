"""What every benchmark shares: contenders, checks, timing in turns, tables."""
