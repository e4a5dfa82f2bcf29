"""The foundations: kernels by dtype, memory, threads, the machine."""
