"""Derive look-up tables, names and the layout of features from codes and options."""
