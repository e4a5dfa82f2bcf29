"""Values to codes, and what is learned of their categories."""
