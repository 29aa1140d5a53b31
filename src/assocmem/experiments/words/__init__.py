"""Facts about words: real vectors and true relations, and what they cost a memory."""
