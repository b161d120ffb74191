"""Genomic Benchmarks: nine data sets of labelled sequences, cut out of genomes by interval lists."""
