"""Memory, threads, caches, optional libraries and properties of the machine."""
