"""Genome Understanding Evaluation: 28 data sets of labelled DNA with train, dev and test files."""
