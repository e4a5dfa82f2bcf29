"""Codes and categories: the hash table, and the equality, order and labels of categories."""
