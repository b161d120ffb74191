"""Adamson 2016, CRISPRi of the unfolded protein response, as scPerturb harmonised them."""
