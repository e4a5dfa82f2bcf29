"""The hash table from values to codes: its C code, and the class `Dictionary` over it."""
