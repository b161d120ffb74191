"""Promoters and other sequences of E. coli and of mouse."""
