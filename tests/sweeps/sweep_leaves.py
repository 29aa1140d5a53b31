"""A module that ends the program that imports it."""

raise SystemExit(0)
