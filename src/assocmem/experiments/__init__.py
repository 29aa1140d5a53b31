"""Theory, memories and verdicts side by side: the measurements of the book."""
