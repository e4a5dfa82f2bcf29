"""Derive look-up tables, names and the layout of output columns from codes and options."""
