"""Peaks of Oct4 and of Mafk in human embryonic stem cells."""
