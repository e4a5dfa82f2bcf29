"""What callers pass, checked: indices, values, elements, shapes."""
