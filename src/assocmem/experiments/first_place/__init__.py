"""Top-1 retrieval, measured: counts of verdicts, peaks of norms, and what shared vectors do."""
