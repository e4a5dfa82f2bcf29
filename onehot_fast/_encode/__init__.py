"""Codes to memory, and the way back."""
