"""Memories that are written down rather than trained: outer products, sparse repairs, clipped memories."""
