"""Replogle 2022, CRISPRi of essential genes in K562, as scPerturb harmonised them."""
