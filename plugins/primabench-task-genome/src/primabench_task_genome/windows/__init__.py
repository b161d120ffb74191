"""Windows of a genome around variants: read, checked, cut and encoded in whole arrays."""
