"""The type of the tables that experiments are given."""

from typing import Any, TypeAlias

DataFrame: TypeAlias = Any
"""A pandas DataFrame. Science uses the methods of one that it is given, and does not need pandas itself."""
