"""The same measurement at many points: sweep files, stores, workers and stored tables."""
