"""Write the features of encoded columns to arrays, and decode such arrays to values."""
