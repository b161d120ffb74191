"""McCalla et al. G3: Genes, Genomes, Genetics 13, jkad004 (2023)."""
