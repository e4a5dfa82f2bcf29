"""Write codes to the memory of a result, and decode results to values."""
