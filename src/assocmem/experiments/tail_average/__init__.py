"""Tail-average learning, measured: keys, columns, scalar limits, and the transition in the load."""
