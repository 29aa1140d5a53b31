"""Facts of unequal frequency in one memory: what it keeps, how that scales, what a stream leaves of it."""
