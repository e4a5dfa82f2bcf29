"""What everything stands on: kernels by dtype, memory, threads, the machine."""
