"""106 E. coli promoters and non-promoters of the UCI repository."""
