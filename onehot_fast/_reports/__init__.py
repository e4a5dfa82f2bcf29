"""Say what an encoder knows, what a table holds, and what looks wrong."""
