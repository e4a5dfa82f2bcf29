"""Validation of the arguments of users: indices, values, elements, shapes."""
