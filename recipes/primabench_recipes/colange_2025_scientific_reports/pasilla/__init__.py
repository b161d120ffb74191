"""Seven Drosophila RNA-seq samples out of the files inside InMoose."""
