"""The leave-one-out method, measured: sizes of all that moves, and their powers of d."""
