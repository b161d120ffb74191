"""Dale, Pedersen, Quinlan. Bioinformatics 27, 3423 (2011)."""
