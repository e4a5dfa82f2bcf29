"""Calls of kernels, memory, threads, optional libraries and properties of the machine."""
