"""5,000 kinase-ligand affinities out of the tables inside pydebiaseddta."""
