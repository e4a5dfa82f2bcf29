"""Convert values to codes: the hash table, and the equality, order and text of categories."""
