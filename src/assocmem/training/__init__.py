"""Memories that are trained: losses, streamed passes over the scores, and minimisers with a duality gap."""
