"""A place on a list: memories trained for it, what they place there, and certified verdicts."""
