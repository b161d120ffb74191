"""Wolf, Angerer, Theis. Genome Biology 19, 15 (2018)."""
