"""Values → codes: the hash table, equality, order and text of category values."""
