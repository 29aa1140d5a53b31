"""Linear associative memory: the models, laws and checks behind the book."""

__version__ = "0.1.0"
