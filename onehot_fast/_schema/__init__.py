"""Codes and options → look-up tables, names and layout of the output columns."""
