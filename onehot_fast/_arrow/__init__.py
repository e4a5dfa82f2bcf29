"""Import and export through the Arrow C data interface."""
