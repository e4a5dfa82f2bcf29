"""The compiled kernels; nothing here is public."""
