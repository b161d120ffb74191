"""HEST-Benchmark: expression of 50 genes at spots of tissue, nine tasks."""
