"""The Arrow C data interface, in and out."""
