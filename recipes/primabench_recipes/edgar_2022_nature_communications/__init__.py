"""Edgar. Nature Communications 13, 6968 (2022)."""
