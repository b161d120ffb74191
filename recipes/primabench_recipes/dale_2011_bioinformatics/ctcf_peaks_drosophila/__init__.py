"""CTCF binding sites of two Drosophila cell lines out of the files inside pybedtools."""
