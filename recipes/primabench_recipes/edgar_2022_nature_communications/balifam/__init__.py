"""Balifam: protein families with reference alignments of some of their members."""
