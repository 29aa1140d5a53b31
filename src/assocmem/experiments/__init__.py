"""Theory, memories and verdicts side by side: the measurements of the book, a room for each of its matters.

`explicit` memories, `first_place`, the `tail_average`, `removals`; beside them what all of these use.
"""
