"""BioSNAP drug-target interactions with the three splits of MolTrans."""
