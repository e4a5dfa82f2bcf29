"""Letters of sequences: what they mean, how they are read, encoded and decoded."""
