"""The pairs to be stored, their sizes, and the scores that a memory gives them."""
