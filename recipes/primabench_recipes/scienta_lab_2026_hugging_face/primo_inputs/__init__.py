"""Inputs of the PRIMO benchmark: bulk RNA-seq of ten unnamed cohorts."""
