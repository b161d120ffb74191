"""The revised downstream tasks of the Nucleotide Transformer: 18 data sets of labelled sequences."""
