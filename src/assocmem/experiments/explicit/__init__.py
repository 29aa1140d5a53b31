"""Memories that are written down, measured: outer products, repairs, clips, and what each needs."""
